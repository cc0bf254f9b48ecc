// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A segment put together again: a file without a name, in memory, which patches and events are
// applied to as its writer once did. Whoever can read a segment can read it, and every rule for
// segments holds for it, so nothing else has to know that it is the past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "recording/columns.hpp"
#include "segment/format.hpp"
#include "segment/reader_file.hpp"
#include "segment/reader_header.hpp"

namespace ttmem::recording {

// What one recording may make us keep, for each process: its table, and all before it.
inline constexpr std::uint64_t kMaxImageSlots = 1ull << 24;
inline constexpr std::uint64_t kMaxImageBytes = 2ull << 30;

class SegmentImage {
 public:
  // `checkpoint` is the body of one: patches, the header among them.
  static Result<SegmentImage> create(std::span<const std::byte> checkpoint);

  // Replaces everything but interned data and ring by another checkpoint of the same process. Its
  // slots are to follow.
  bool replace(std::span<const std::byte> checkpoint, std::uint64_t event);
  // False: it does not belong to this segment.
  bool patch(std::span<const std::byte> patches);
  bool put_slot(const SlotRecord& slot);
  // The event after head(), as its writer did: ring, table, head.
  bool apply(const SlotRecord& event);
  // From now on, events continue after this one.
  void set_head(std::uint64_t event) { header()->head = event; }

  std::uint64_t head() const { return header()->head; }
  const segment::Clock& clock() const { return header()->clock; }
  std::uint64_t ring_entries() const { return ring_.entries; }
  // Slots 0..slots()-1 may hold something.
  std::uint64_t slots() const { return header()->table_slots; }
  segment::Payload slot(std::uint64_t index) const;
  // What a live buffer takes: its block on every bank of every device; 0 of everything else. One
  // with an address per core counts as if it lay on all of them.
  std::uint64_t taken(const segment::Payload& payload) const;
  std::int32_t pid() const { return header()->subject.pid; }
  // The file, for a reader: under its old name, with the owner that it had.
  Result<segment::ReadOnlyFile> file(const std::string& path, std::uint32_t owner) const;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* at) const;
  };
  SegmentImage() = default;
  void release_all(std::uint64_t slots, std::uint64_t event);
  bool write(std::uint64_t offset, std::span<const std::byte> bytes);
  void open_by_note(const segment::Payload& note);
  template <typename Record>
  void set_open(segment::SectionKind kind, std::uint64_t index, std::uint32_t count, bool open);
  template <typename Record>
  Record record(segment::SectionKind kind, std::uint32_t index) const;
  segment::Header* header() const { return reinterpret_cast<segment::Header*>(map_.get()); }
  void mark_change() { header()->changes = ++changes_; }

  FileDescriptor file_;
  std::unique_ptr<std::byte, Unmap> map_{nullptr, Unmap{0}};
  segment::Layout layout_;
  segment::SectionPlace ring_, table_;
  std::uint32_t changes_ = 0;  // of its own, so that no change looks like none
};

}  // namespace ttmem::recording
