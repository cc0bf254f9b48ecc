// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Buffers: the hot path of the recorder. One call takes the lock once and writes one slot, one
// event and the figures of its devices; a free finds its slot through an index of its allocator, so
// clearing an allocator costs as much as it holds.
#pragma once

#include <cstdint>

#include "client/segment_writer.hpp"

namespace ttmem::client {

// Hot: what a call touches of it comes first, on as few cache lines as possible.
struct alignas(64) AllocatorState {
  DeviceList devices;
  PeakMask peaks;
  std::uint16_t set;
  std::uint16_t id;
  bool open;
  std::uint64_t highest_id;  // of all that it ever had
  std::uint32_t banks[segment::kSpaces];
  std::uint64_t lock_step_bytes[segment::kSpaces];  // sum of blocks that every bank carries
  SlotIndex buffers;                                // (space, id) -> slot
};

// On a cache line of its own: what its calls use comes first.
class alignas(64) Buffers {
 public:
  bool open(SegmentWriter& writer);
  void give_back();

  void allocated(const ttmem_buffer& buffer, ttmem_origin_t origin);
  void freed(ttmem_allocator_t allocator, std::uint32_t space, std::uint64_t id);
  // The same, of a buffer that may be gone already: that is no anomaly.
  void freed_if_known(ttmem_allocator_t allocator, std::uint32_t space, std::uint64_t id);
  void flagged(ttmem_allocator_t allocator, std::uint32_t space, std::uint64_t id,
               std::uint32_t flags);
  // The operation that was launched next; no anomaly if the buffer is gone already.
  void followed(ttmem_allocator_t allocator, std::uint32_t space, std::uint64_t id,
                ttmem_string_t operation);

  // The sum of lock-step blocks, as of the event whose number it gives. 0 or ENOENT.
  int read(ttmem_allocator_t allocator, std::uint32_t space, std::uint64_t* bytes,
           std::uint64_t* last_event) const;

  // For the allocators' part, under the gate.
  AllocatorState* prepare_state(std::uint16_t id);
  void clear(AllocatorState& allocator);

  // Null, or one that is not open, for an id that was never handed out.
  AllocatorState* state(ttmem_allocator_t id) const;

  // The DRAM buffer that holds a workload's binaries: flags it and names it in the workload's slot,
  // until it is freed or the workload is. Under the gate; false if there is no such buffer.
  bool bind_binaries(AllocatorState& allocator, std::uint64_t id, std::uint32_t workload_slot);
  void unbind_binaries(std::uint32_t workload_slot);

 private:
  enum class Placed { kDone, kNoRoom, kClosed };
  // Where a buffer was placed.
  struct Places {
    std::uint32_t taken;  // a new slot; kNoSlot: it has one already
    bool in_buckets;      // the buckets of the index have changed
  };

  bool take(AllocatorState& allocator, std::uint32_t space, std::uint64_t id);  // false: unknown
  std::uint64_t taken_by(const AllocatorState& allocator, const segment::Payload& payload) const;
  std::uint32_t find(const AllocatorState& allocator, std::uint32_t space, std::uint64_t id) const;
  bool is_of(std::uint32_t slot, std::uint32_t space, std::uint64_t id) const;
  bool is_newest(const AllocatorState& allocator, std::uint32_t space, std::uint64_t id) const;
  // Puts the newest entry into its bucket. False: there is no room for it yet.
  bool settle(AllocatorState& allocator);
  std::uint32_t find_or_insert(AllocatorState& allocator, const segment::Payload& payload,
                               Places* places);
  // No two buffers have one time, whatever clock it comes from: a peak is told by it.
  std::uint64_t later_than_all(std::uint64_t ticks) {
    return last_ticks_ = ticks > last_ticks_ ? ticks : last_ticks_ + 1;
  }
  void add_flags(AllocatorState& allocator, std::uint32_t slot, unsigned flags);
  void name_binaries(std::uint32_t workload_slot, std::uint32_t buffer_slot);
  void forget_binaries(std::uint32_t buffer_slot);
  void count(AllocatorState& allocator, const segment::Payload& payload);
  void uncount(AllocatorState& allocator, const segment::Payload& payload);
  Placed place(AllocatorState& allocator, segment::Payload& payload, Places* places);
  void release(AllocatorState& allocator, std::uint32_t slot, std::uint64_t ticks);
  bool wants_memory(const AllocatorState& allocator, const Places& places) const;
  void prepare_ahead(AllocatorState& allocator);
  bool make_room(AllocatorState& allocator);
  bool make_ready(AllocatorState& allocator);

  SegmentWriter* writer_ = nullptr;
  std::uint64_t last_ticks_ = 0;
  PrivateArray<AllocatorState> states_;
  IndexOverflow overflow_;  // of all indices here: under the lock
  SlotIndex binaries_;      // slot of a buffer -> slot of the workload
};

}  // namespace ttmem::client
