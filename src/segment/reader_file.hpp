// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A segment as a file that somebody else wrote and may be changing, growing, cutting or deleting
// right now. It is opened so that nothing can be followed, blocked on or inherited, and it is only
// ever copied from with pread, never mapped: a file that shrinks is a short read and not a signal.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"

namespace ttmem::segment {

class ReadOnlyFile {
 public:
  // Opens a regular file. With `owner`, files of anybody but that user and root are refused.
  static Result<ReadOnlyFile> open(const std::string& path, std::optional<std::uint32_t> owner);
  // The same by the last part of the path in an open directory.
  static Result<ReadOnlyFile> open_at(int directory, const std::string& path,
                                      std::optional<std::uint32_t> owner);

  // A segment that was put together in memory, under the name and with the owner that it had.
  static ReadOnlyFile of_image(FileDescriptor file, std::string path, std::uint32_t owner);

  // Copies exactly `bytes` bytes, or says false: the file ends before, or could not be read.
  bool read(std::uint64_t offset, void* into, std::size_t bytes) const;

  // Gives the descriptor back. What is read from then on is read through the name, as long as that
  // is still this file's.
  void rest() { descriptor_.reset(); }

  // Looks at size, blocks and times again. False if the file can no longer be asked.
  bool restat();

  int descriptor() const { return descriptor_.get(); }
  const std::string& path() const { return path_; }
  std::uint64_t inode() const { return inode_; }
  std::uint64_t device() const { return device_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t data_bytes() const { return data_bytes_; }  // blocks on disk: what was ever written
  std::uint64_t modified_ns() const { return modified_ns_; }  // wall clock
  std::uint32_t owner() const { return owner_; }
  std::uint32_t links() const { return links_; }  // 0 = deleted

 private:
  ReadOnlyFile(FileDescriptor file, std::string path)
      : descriptor_(std::move(file)), path_(std::move(path)) {}
  static Result<ReadOnlyFile> opened(int directory, const char* name, const std::string& path,
                                     std::optional<std::uint32_t> owner);
  void take(const struct stat& facts);

  FileDescriptor descriptor_;
  std::string path_;
  std::uint64_t inode_ = 0, device_ = 0, size_bytes_ = 0, data_bytes_ = 0, modified_ns_ = 0;
  std::uint32_t owner_ = 0, links_ = 0;
  bool is_image_ = false;  // all of it counts as written, and its owner is told
};

}  // namespace ttmem::segment
