// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Writes segments byte by byte, as the format says and not as the recorder happens to do it: for
// tests that need a segment in a certain state, or one that is wrong in a certain way.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "segment/format.hpp"

namespace ttmem::support {

using segment::Kind;
using segment::Meta;
using segment::Payload;
using segment::SectionKind;

struct Place {
  std::uint64_t entry_bytes, offset, bytes;
};

// Where the sections stand: as the recorder puts them, or close together, for which only what a
// small segment uses has room (a ring of 16 records, 64 slots). What it uses of that is within
// kCompactBytes, but for the counters, which are a hole where they are 0.
inline constexpr std::uint64_t kCompactBytes = 12672;
struct Places {
  std::array<Place, segment::kSections> by_kind;

  const Place& at(SectionKind kind) const { return by_kind[static_cast<std::size_t>(kind) - 1]; }

  static Places usual() {
    using namespace segment;
    return {{{{sizeof(Device), kDevicesOffset, kMaxDevices * sizeof(Device)},
              {sizeof(DeviceSet), kDeviceSetsOffset, kMaxDeviceSets * sizeof(DeviceSet)},
              {sizeof(Allocator), kAllocatorsOffset, kMaxAllocators * sizeof(Allocator)},
              {sizeof(RingManager), kRingManagersOffset, kMaxRingManagers * sizeof(RingManager)},
              {sizeof(Counters), kCountersOffset, sizeof(Counters)},
              {sizeof(Watermark), kWatermarksOffset, kMaxWatermarks * sizeof(Watermark)},
              {sizeof(Failure), kFailuresOffset, kMaxFailures * sizeof(Failure)},
              {sizeof(Blob), kInternedOffset, kMaxInternedBytes},
              {sizeof(Event), kEventsOffset, kEventCapacity * sizeof(Event)},
              {sizeof(Slot), kTableOffset, kMaxTableSlots * sizeof(Slot)},
              {sizeof(Peaks), kPeaksOffset, sizeof(Peaks)},
              {sizeof(Slot), kListsOffset, kMaxListSlots * sizeof(Slot)}}}};
  }
  static Places compact() {
    using namespace segment;
    return {{{{sizeof(Device), 4096, 4 * sizeof(Device)},
              {sizeof(DeviceSet), 5120, 4 * sizeof(DeviceSet)},
              {sizeof(Allocator), 5376, 3 * sizeof(Allocator)},
              {sizeof(RingManager), 12672, 3 * sizeof(RingManager)},
              {sizeof(Counters), 32768, sizeof(Counters)},
              {sizeof(Watermark), 2 << 20, sizeof(Watermark)},
              {sizeof(Failure), 4 << 20, kMaxFailures * sizeof(Failure)},
              {sizeof(Blob), 6528, 1024},
              {sizeof(Event), 7552, 16 * sizeof(Event)},
              {sizeof(Slot), 8576, 64 * sizeof(Slot)},
              {sizeof(Peaks), 8 << 20, sizeof(Peaks)},
              {sizeof(Slot), 9 << 20, 64 * sizeof(Slot)}}}};
  }
};

inline Payload buffer_payload(std::uint64_t id, std::uint64_t address, std::uint64_t block,
                              unsigned space = 0, bool live = true) {
  Payload payload{};
  payload.meta = Meta::pack(Kind::kBuffer, live, space, 0, 0, block);
  payload.id = id;
  payload.a = address;
  payload.b = block;
  payload.time = 1000 + id;
  payload.set = 1;
  payload.allocator = 1;
  return payload;
}

class SegmentBuilder {
 public:
  explicit SegmentBuilder(const std::string& path, const Places& places = Places::usual())
      : path_(path), places_(places) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor_ < 0) throw std::runtime_error("cannot create " + path);
    std::memcpy(header_.magic, segment::kMagic, sizeof header_.magic);
    header_.major = segment::kMajorVersion;
    header_.header_bytes = sizeof header_;
    header_.nonce = 0x1234;
    describe_sections();
    describe_this_process(header_.subject);
    header_.writer = header_.subject;
    header_.clock.ticks = header_.clock.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    header_.clock.wall_ns = clock_ns(CLOCK_REALTIME);
    header_.created_ticks = header_.clock.ticks;
    const std::uint64_t size = places_.at(SectionKind::kTable).offset;
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
      throw std::runtime_error("cannot size " + path);
    }
    flush();
  }
  ~SegmentBuilder() { ::close(descriptor_); }
  SegmentBuilder(const SegmentBuilder&) = delete;
  SegmentBuilder& operator=(const SegmentBuilder&) = delete;

  segment::Header& header() { return header_; }
  void flush() {
    ++header_.changes;
    write(0, &header_, sizeof header_);
  }
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  void write(std::uint64_t offset, const void* bytes, std::size_t count) {
    if (::pwrite(descriptor_, bytes, count, static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(count)) {
      throw std::runtime_error("cannot write " + path_);
    }
  }

  // Holds the lock that says that the writer lives.
  bool lock() {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    return ::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0;
  }

  std::uint32_t add_blob(segment::BlobKind kind, std::span<const std::uint8_t> bytes) {
    const std::uint64_t offset = header_.interned_bytes;
    const segment::Blob head{static_cast<std::uint32_t>(bytes.size()),
                             static_cast<std::uint16_t>(kind), 0};
    std::vector<std::uint8_t> whole(sizeof head + (bytes.size() + 7) / 8 * 8);
    std::memcpy(whole.data(), &head, sizeof head);
    if (!bytes.empty()) std::memcpy(whole.data() + sizeof head, bytes.data(), bytes.size());
    write(offset_of(SectionKind::kInterned) + offset, whole.data(), whole.size());
    header_.interned_bytes += whole.size();
    flush();
    return static_cast<std::uint32_t>(offset / 8 + 1);
  }
  std::uint32_t add_string(std::string_view text) {
    return add_blob(segment::BlobKind::kString,
                    {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  template <typename T>
  std::uint32_t add_list(segment::BlobKind kind, const std::vector<T>& list) {
    return add_blob(kind,
                    {reinterpret_cast<const std::uint8_t*>(list.data()), list.size() * sizeof(T)});
  }

  std::uint32_t add_device(std::uint64_t unique_id, std::int32_t metal_id = 0) {
    segment::Device device{};
    device.version = 2;
    device.unique_id = unique_id;
    device.metal_id = metal_id;
    device.arch = 2;
    device.open = 1;
    device.grid_x = device.grid_y = 8;
    device.dram_banks = 12;
    device.dram_bank_bytes = 1ull << 30;
    device.geometry[0] = {1499136, 1024, 1024, 70656, 102400};
    const std::uint32_t index = ++header_.device_count;
    write(offset_of(SectionKind::kDevices) + index * sizeof device, &device, sizeof device);
    flush();
    return index;
  }
  std::uint16_t add_set(const std::vector<std::uint16_t>& devices) {
    segment::DeviceSet set{};
    set.version = 2;
    set.devices = add_list(segment::BlobKind::kDeviceList, devices);
    set.device_count = static_cast<std::uint16_t>(devices.size());
    const std::uint32_t index = ++header_.device_set_count;
    write(offset_of(SectionKind::kDeviceSets) + index * sizeof set, &set, sizeof set);
    flush();
    return static_cast<std::uint16_t>(index);
  }
  std::uint16_t add_allocator(std::uint16_t set, std::uint32_t dram_banks = 12,
                              std::uint32_t l1_banks = 64) {
    segment::Allocator allocator{};
    allocator.version = 2;
    allocator.set = set;
    allocator.open = 1;
    allocator.spaces[0] = {
        .base = 32, .bank_bytes = 1ull << 30, .banks = dram_banks, .alignment = 32};
    allocator.spaces[1] = {
        .base = 102400, .bank_bytes = 1396736, .banks = l1_banks, .alignment = 32};
    const std::uint32_t index = ++header_.allocator_count;
    write(offset_of(SectionKind::kAllocators) + index * sizeof allocator, &allocator,
          sizeof allocator);
    flush();
    return static_cast<std::uint16_t>(index);
  }
  // The first allocator has DRAM banks of another size.
  void resize_dram(std::uint64_t bank_bytes) {
    write(offset_of(SectionKind::kAllocators) + sizeof(segment::Allocator) +
              offsetof(segment::Allocator, spaces) + offsetof(segment::Space, bank_bytes),
          &bank_bytes, sizeof bank_bytes);
    flush();
  }
  // One device in one set under one allocator: what most tests need. Also the counters' pages.
  void add_usual_device(std::uint64_t unique_id = 0xABC) {
    const auto device = static_cast<std::uint16_t>(add_device(unique_id));
    add_allocator(add_set({device}));
    const std::uint64_t none = 0;
    write(offset_of(SectionKind::kCounters) + sizeof(segment::Counters) - sizeof none, &none,
          sizeof none);
  }

  // One event: record, slot, head, in the writer's order.
  void put(std::uint32_t slot, const Payload& payload) {
    const std::uint64_t number = header_.head + 1;
    const segment::Event event{static_cast<std::uint32_t>(number), slot, payload};
    write(offset_of(SectionKind::kEvents) +
              number % (places_.at(SectionKind::kEvents).bytes / sizeof event) * sizeof event,
          &event, sizeof event);
    if (slot != segment::kNoSlot) put_slot(slot, number << 1, payload);
    header_.head = number;
    write(0, &header_, sizeof header_);
  }
  void put_note(segment::Note note, Payload payload = {}) {
    payload.meta = Meta::pack(Kind::kNote, false, 0, 0, 0, static_cast<std::uint64_t>(note));
    put(segment::kNoSlot, payload);
  }
  // A slot alone, without its event.
  void put_slot(std::uint32_t slot, std::uint64_t version, const Payload& payload) {
    const segment::Slot whole{version, payload};
    write(offset_of(SectionKind::kTable) + slot * sizeof whole, &whole, sizeof whole);
    if (slot >= header_.table_slots) header_.table_slots = slot + 1;
  }
  // Many slots at once, as if their events had long been overwritten.
  void put_table(const std::vector<segment::Slot>& slots) {
    write(offset_of(SectionKind::kTable), slots.data(), slots.size() * sizeof(segment::Slot));
    header_.table_slots = slots.size();
    for (const segment::Slot& slot : slots) {
      header_.head = std::max(header_.head, slot.version >> 1);
    }
    flush();
  }

 private:
  static std::uint64_t clock_ns(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
  }

  std::uint64_t offset_of(SectionKind kind) const { return places_.at(kind).offset; }

  void describe_sections() {
    for (std::uint32_t i = 0; i < segment::kSections; ++i) {
      const Place& place = places_.by_kind[i];
      header_.sections[i] = {i + 1, static_cast<std::uint32_t>(place.entry_bytes), place.offset,
                             place.bytes};
    }
  }

  static void describe_this_process(segment::Identity& identity) {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    unsigned digits = 0;
    for (const char c : boot) {
      if (c == '-') continue;
      const int value = c >= 'a' ? c - 'a' + 10 : c - '0';
      identity.boot_id[digits / 2] =
          static_cast<std::uint8_t>(identity.boot_id[digits / 2] << 4 | value);
      ++digits;
    }
    std::string stat;
    std::getline(std::ifstream("/proc/self/stat"), stat);
    std::size_t at = stat.rfind(')') + 1;
    for (int field = 3; field < 22; ++field) at = stat.find(' ', at + 1);
    identity.start_ticks = std::strtoull(stat.c_str() + at, nullptr, 10);
    struct stat space{};
    if (::stat("/proc/self/ns/pid", &space) == 0) identity.pid_namespace = space.st_ino;
    identity.pid = ::getpid();
    identity.uid = ::getuid();
    std::string comm;
    std::getline(std::ifstream("/proc/self/comm"), comm);
    std::memcpy(identity.name, comm.data(), std::min(comm.size(), sizeof identity.name - 1));
    std::memcpy(identity.command, comm.data(), std::min(comm.size(), sizeof identity.command - 1));
  }

  std::string path_;
  Places places_;
  int descriptor_ = -1;
  segment::Header header_{};
};

}  // namespace ttmem::support
