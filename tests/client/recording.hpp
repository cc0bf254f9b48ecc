// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the recorder's tests share: a directory of their own, a recorder that writes there, a few
// devices, and a reader so small that it can be checked by looking at it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/recorder.hpp"
#include "support/devices.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::client {

using segment::Kind;
using segment::Meta;
using segment::Payload;
using support::device_info;
using support::TemporaryDirectory;

// Reads a segment at rest: nobody is writing while a test looks.
class TinyReader {
 public:
  explicit TinyReader(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("cannot open " + path);
    header_ = at<segment::Header>(0);
    counters_ =
        std::make_unique<segment::Counters>(at<segment::Counters>(segment::kCountersOffset));
    table_.resize(header_.table_slots);
    read(table_.data(), table_.size() * sizeof(segment::Slot), segment::kTableOffset);
  }
  ~TinyReader() { close(fd_); }
  TinyReader(const TinyReader&) = delete;
  TinyReader& operator=(const TinyReader&) = delete;

  const segment::Header& header() const { return header_; }
  const segment::Counters& counters() const { return *counters_; }
  const std::vector<segment::Slot>& table() const { return table_; }
  std::uint64_t anomalies(unsigned kind) const { return counters_->anomalies[kind]; }

  std::vector<Payload> live(Kind kind) const {
    std::vector<Payload> found;
    for (const auto& slot : table_) {
      if (Meta::kind(slot.payload.meta) == kind && Meta::live(slot.payload.meta)) {
        found.push_back(slot.payload);
      }
    }
    return found;
  }
  std::size_t count(Kind kind) const { return live(kind).size(); }

  template <class T>
  T record(std::uint64_t offset, std::uint32_t index) const {
    return at<T>(offset + index * sizeof(T));
  }
  std::string blob(std::uint32_t id) const {
    if (id == 0) return "";
    const std::uint64_t offset = segment::kInternedOffset + (std::uint64_t{id} - 1) * 8;
    const auto head = at<segment::Blob>(offset);
    std::string bytes(head.bytes, '\0');
    read(bytes.data(), bytes.size(), offset + sizeof head);
    return bytes;
  }
  segment::OriginRegion region(std::uint32_t id) const {
    segment::OriginRegion node = {};
    const std::string bytes = blob(id);
    if (bytes.size() == sizeof node) std::memcpy(&node, bytes.data(), sizeof node);
    return node;
  }
  // The last events, oldest first, as many as the ring holds.
  std::vector<segment::Event> events() const {
    std::vector<segment::Event> all;
    const std::uint64_t head = header_.head;
    const std::uint64_t kept = segment::kEventCapacity - 1;
    for (std::uint64_t n = head > kept ? head - kept + 1 : 1; n <= head; ++n) {
      all.push_back(record<segment::Event>(
          segment::kEventsOffset, static_cast<std::uint32_t>(n % segment::kEventCapacity)));
      EXPECT_EQ(all.back().number, static_cast<std::uint32_t>(n));
    }
    return all;
  }
  std::uint64_t notes(segment::Note note) const {
    return counters_->events[16 + static_cast<unsigned>(note)];
  }

 private:
  template <class T>
  T at(std::uint64_t offset) const {
    T value;
    read(&value, sizeof value, offset);
    return value;
  }
  void read(void* to, std::size_t bytes, std::uint64_t offset) const {
    const ssize_t got = pread(fd_, to, bytes, static_cast<off_t>(offset));
    if (got != static_cast<ssize_t>(bytes)) throw std::runtime_error("short segment");
  }

  int fd_;
  segment::Header header_;
  std::unique_ptr<segment::Counters> counters_;
  std::vector<segment::Slot> table_;
};

// A recorder with `devices()` chips in one set and one allocator of 12 DRAM and 64 L1 banks.
class Recording : public ::testing::Test {
 protected:
  explicit Recording(int devices = 1) : recorder(std::make_unique<Recorder>()) {
    Options options;
    options.directory = directory.path().c_str();
    if (recorder->open(options) != 0) throw std::runtime_error("the recorder does not open");
    for (int i = 0; i < devices; ++i) {
      chips.push_back(recorder->devices.opened(device_info(100 + static_cast<unsigned>(i))));
    }
    set = set_of(chips);
    allocator = open_allocator(set);
  }

  ttmem_set_t set_of(const std::vector<ttmem_device_t>& devices) {
    return recorder->devices.set(support::set_info(devices));
  }
  ttmem_allocator_t open_allocator(ttmem_set_t on) {
    const ttmem_space_info spaces[] = {
        {TTMEM_SPACE_DRAM, 12, 1048640, 1072693184, 32, 0, nullptr},
        {TTMEM_SPACE_L1, 64, 105664, 1393472, 16, 0, nullptr},
        {TTMEM_SPACE_L1_SMALL, 64, 1490944, 8192, 16, 0, nullptr},
        {TTMEM_SPACE_TRACE, 12, 0, 1 << 20, 32, 0, nullptr},
    };
    return recorder->allocators.opened(support::allocator_info(on, spaces));
  }
  ttmem_buffer buffer(std::uint64_t id, std::uint64_t block, std::uint8_t space = 0) const {
    ttmem_buffer made = {};
    made.id = id;
    made.address = 4096 * id;
    made.block = block;
    made.requested = block * 3;
    made.allocator = allocator;
    made.space = space;
    return made;
  }
  void allocate(const ttmem_buffer& made) { recorder->buffers.allocated(made, {}); }
  void release(std::uint64_t id, std::uint32_t space = 0) {
    recorder->buffers.freed(allocator, space, id);
  }
  std::uint64_t taken(std::uint32_t figure, std::size_t chip = 0) {
    ttmem_figures figures = {};
    EXPECT_EQ(recorder->self(chips[chip], figure, &figures), 0);
    return figures.taken;
  }
  std::uint64_t peak(std::uint32_t figure, std::size_t chip = 0) {
    ttmem_figures figures = {};
    EXPECT_EQ(recorder->self(chips[chip], figure, &figures), 0);
    return figures.peak;
  }
  std::string path() const { return recorder->writer.store.file().path(); }
  TinyReader reader() const { return TinyReader(path()); }
  ttmem_cores_t cores(std::uint8_t x0, std::uint8_t y0, std::uint8_t x1, std::uint8_t y1,
                      std::uint32_t type = TTMEM_CORE_TENSIX) {
    const ttmem_core_range range = {x0, y0, x1, y1};
    return recorder->interning.cores(type, &range, 1);
  }

  TemporaryDirectory directory;
  std::unique_ptr<Recorder> recorder;
  std::vector<ttmem_device_t> chips;
  ttmem_set_t set = 0;
  ttmem_allocator_t allocator = 0;
};

}  // namespace ttmem::client
