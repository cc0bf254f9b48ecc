// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Reads a recording as what a stranger sent. Blocks come from the index, or where there is none or
// a bad one, from walking over all headers; one that is broken is left out and counted, and those
// after it are found again. Every size is bounded before it is believed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "recording/columns.hpp"
#include "recording/format.hpp"
#include "recording/patches.hpp"

namespace ttmem::recording {

// A sample in a block of events.
struct Sample {
  std::uint64_t after = 0;
  Moment read{};
  bool needed = false;                 // by the events that follow (kNeeded)
  std::span<const std::byte> patches;  // of the body that it was taken from
};

// The body of a block of events.
struct EventsBody {
  Bytes plain;  // what the samples point into
  std::vector<Sample> samples;
  std::vector<SlotRecord> events;
};

class FileReader {
 public:
  static Result<FileReader> open(const std::string& path);
  // The same file as it was when it was opened, whatever has its name by now.
  Result<FileReader> again() const;

  const std::string& path() const { return path_; }
  const FileInfo& info() const { return info_; }
  // In the order of the file, without the index; the first is that of the file.
  const std::vector<IndexEntry>& blocks() const { return blocks_; }
  // Whether the recording was ended: if not, its recorder was killed, or still records.
  bool is_ended() const { return ended_; }
  // Bytes that belong to no block that can be read.
  std::uint64_t broken_bytes() const { return broken_bytes_; }
  std::uint64_t bytes() const { return bytes_; }

  // The body, unpacked and checked.
  Result<Bytes> body(const IndexEntry& block) const;
  Result<EventsBody> events(const IndexEntry& block) const;

 private:
  FileReader(FileDescriptor file, std::string path, std::uint64_t bytes)
      : file_(std::move(file)), path_(std::move(path)), bytes_(bytes) {}
  bool read(std::uint64_t offset, void* into, std::size_t bytes) const;
  bool read_header(std::uint64_t offset, BlockHeader& header) const;
  bool read_index();
  void walk();
  std::uint64_t find_next(std::uint64_t from) const;

  FileDescriptor file_;
  std::string path_;
  std::uint64_t bytes_;
  FileInfo info_{};
  std::vector<IndexEntry> blocks_;
  bool ended_ = false;
  std::uint64_t broken_bytes_ = 0;
};

// The end of a block: where the next one starts.
inline std::uint64_t end_of(const IndexEntry& block) {
  return block.offset + 8 + block.header.frame_bytes + block.header.packed_bytes;
}

inline BlockKind kind_of(const IndexEntry& block) {
  return static_cast<BlockKind>(block.header.kind);
}

// A body of one fixed record, as of a file, a process, an end. A shorter one is of an older minor:
// what it lacks is zero.
template <typename T>
T record_in(std::span<const std::byte> body) {
  T record{};
  // An empty body may have no address, which memcpy must not see.
  if (!body.empty()) std::memcpy(&record, body.data(), std::min(body.size(), sizeof record));
  return record;
}

}  // namespace ttmem::recording
