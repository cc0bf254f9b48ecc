// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Writes a recording, block by block, each with one write: whatever ends the recorder, all blocks
// before are there. A block that did not fit on the disk leaves nothing behind.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "recording/format.hpp"
#include "recording/patches.hpp"

struct ZSTD_CCtx_s;

namespace ttmem::recording {

// Makes a new file that only this user may read, and never follows a link. One that is there is
// refused, or with `replace` taken away first if it is a regular file.
Result<FileDescriptor> create_private_file(const std::string& path, bool replace);

class FileWriter {
 public:
  static Result<FileWriter> create(const std::string& path, bool replace, const FileInfo& info,
                                   const Moment& now);

  // Calls it so from now on; a file of that name goes.
  std::optional<Error> move_to(const std::string& path);

  // Packs and writes one block. Of the header, kind, process, count, events, times and moment are
  // the caller's. After an error the file is as it was before.
  std::optional<Error> add(BlockHeader header, std::span<const std::byte> plain);
  // Writes the index; nothing can be added then.
  std::optional<Error> finish();

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }
  // At most, once the index is written too.
  std::uint64_t bytes_when_finished() const;

 private:
  FileWriter(FileDescriptor file, std::string path);
  std::optional<Error> write(std::span<const std::byte> bytes);

  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  FileDescriptor file_;
  std::string path_;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  Bytes packed_;
  std::uint64_t bytes_ = 0;
  std::vector<IndexEntry> index_;
};

}  // namespace ttmem::recording
