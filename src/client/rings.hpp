// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Ring managers: the state of the kernel-config rings, kept in the segment under a lock of each
// manager. Observed managers follow the runtime's own calls; the others replay its rules.
#pragma once

#include <cstdint>

#include "client/devices.hpp"
#include "client/segment_writer.hpp"
#include "client/workloads.hpp"
#include "segment/ring_rules.hpp"

namespace ttmem::client {

// What really lies in a ring: the last writer of each stretch of bytes. The queue forgets an entry
// when it is free; its bytes stay until they are overwritten, and that is what an eviction is. The
// slices stand in the segment, for readers; whose they are stands here as well, because a workload
// is found by its handle.
class RingContents {
 public:
  struct Writing {
    std::uint32_t begin, end;
    std::uint64_t handle;  // of the workload
    std::uint64_t id;      // of the same
  };

  // A slice of a workload is written. Calls evicted(handle) for each slice it destroys, in whole or
  // in part, that belongs to another workload. Says whether this one had a slice.
  template <class Evicted>
  bool write(segment::RingContents& shown, const Writing& slice, Evicted evicted) {
    std::uint32_t kept = 0;
    bool was_there = false;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const segment::RingSlice& old = shown.slices[i];
      if (handles_[i] == slice.handle) {
        was_there = true;
      } else if (old.begin < slice.end && slice.begin < old.end) {
        evicted(handles_[i]);
      } else {
        keep(shown, i, kept++);
      }
    }
    count_ = kept;
    if (count_ == segment::kRingSlices) {  // more than are remembered: the oldest one is given up
      evicted(handles_[0]);
      for (std::uint32_t i = 1; i < count_; ++i) keep(shown, i, i - 1);
      --count_;
    }
    add(shown, slice);
    return was_there;
  }

  // A trace has the whole ring.
  template <class Evicted>
  void write_all(segment::RingContents& shown, const segment::Ring& ring, Evicted evicted) {
    for (std::uint32_t i = 0; i < count_; ++i) evicted(handles_[i]);
    count_ = 0;
    constexpr std::uint64_t kTrace = segment::RingRules::kEverybody;
    add(shown, {ring.base, ring.base + ring.bytes, kTrace, kTrace});
  }

  void clear() { count_ = 0; }

 private:
  void keep(segment::RingContents& shown, std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    shown.slices[to] = shown.slices[from];
    handles_[to] = handles_[from];
  }
  void add(segment::RingContents& shown, const Writing& slice) {
    shown.slices[count_] = {slice.begin, slice.end, slice.id};
    handles_[count_] = slice.handle;
    shown.count = ++count_;
  }

  std::uint32_t count_;
  std::uint64_t handles_[segment::kRingSlices];
};

struct RingState {
  ShortLock lock;
  bool open;
  bool has_saved;
  std::uint32_t used;  // a bit for each ring that has ever held something
  RingContents contents[segment::kMaxRings];
  segment::Ring saved[segment::kMaxRings];
};

class Rings {
 public:
  bool open(SegmentWriter& writer, Devices& devices, Workloads& workloads);
  void give_back() { states_.give_back(); }

  ttmem_ring_manager_t opened(ttmem_set_t set, std::uint32_t queue, std::uint32_t sub_device,
                              const ttmem_ring* rings, std::uint32_t count, bool observed);
  void freed(ttmem_ring_manager_t id, std::uint32_t sync);
  void launched(ttmem_ring_manager_t id, const ttmem_ring_launch& launch);
  void filled(ttmem_ring_manager_t id, std::uint32_t sync);
  void reset(ttmem_ring_manager_t id);
  void saved(ttmem_ring_manager_t id);
  void restored(ttmem_ring_manager_t id);
  void simulated(ttmem_ring_manager_t id, ttmem_workload_t workload, const std::uint32_t* bytes,
                 std::uint32_t count, std::uint32_t workers, bool first);
  void closed(ttmem_ring_manager_t id);

 private:
  segment::RingManager& record(std::uint32_t id) const;
  std::uint32_t free_record();
  // Runs use(manager, state) under the manager's lock; what readers see must stay as it is.
  template <class Use>
  void use(ttmem_ring_manager_t id, Use use);
  // Runs change(manager, state) under the manager's lock, as one change of its record.
  template <class Change>
  void change(ttmem_ring_manager_t id, Change change);
  // Writes a slice into the contents of a ring: counts evictions, and says whether its workload had
  // one there.
  bool write(segment::RingManager& manager, RingState& state, std::uint32_t ring,
             const RingContents::Writing& slice);
  // Whether a launch whose slices were there, or not, had to write them again; counts it.
  static bool is_reload(ttmem_ring_manager_t id, segment::RingManager& manager, Workload* workload,
                        bool was_there);
  void note_reload(const segment::RingManager& manager, ttmem_workload_t workload);

  SegmentWriter* writer_ = nullptr;
  Devices* devices_ = nullptr;
  Workloads* workloads_ = nullptr;
  PrivateArray<RingState> states_;
};

}  // namespace ttmem::client
