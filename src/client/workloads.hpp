// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Workloads: what is enqueued. A launch of one whose programs are loaded takes no lock: its handle
// leads to its slot, where one counter, one order stamp and one time are stored. Everything else
// takes the gate.
//
//   handle   16 bits of the recorder's nonce | 16 bits of reuse | 32 bits of index
#pragma once

#include <atomic>
#include <cstdint>

#include "client/buffers.hpp"
#include "client/devices.hpp"
#include "client/programs.hpp"
#include "client/segment_writer.hpp"

namespace ttmem::client {

// What a launch looks at is in one cache line.
struct alignas(64) Workload {
  std::uint32_t next;
  std::uint32_t slot;
  Membership membership;
  std::atomic<std::uint64_t> handle;         // 0 = released
  std::atomic<std::uint64_t> ring_managers;  // a bit each: it has had a slice there
  std::atomic<bool> reloaded;                // its slice had left the ring: for the next launch
  std::uint16_t set;
  std::uint16_t reuses;
};
static_assert(sizeof(Workload) == 64);

class Workloads {
 public:
  bool open(SegmentWriter& writer, Devices& devices, Buffers& buffers, Programs& programs);
  void give_back() {
    pool_.give_back();
    ids_.give_back();
  }

  ttmem_workload_t created(std::uint64_t id, ttmem_set_t set, ttmem_origin_t origin = 0);
  // A program that was registered where no origin is known gets that of the workload's maker.
  void joined(ttmem_workload_t handle, std::uint64_t program, ttmem_set_t set,
              ttmem_origin_t origin = 0);
  void binaries(ttmem_workload_t handle, ttmem_allocator_t allocator, std::uint64_t buffer);
  void released(ttmem_workload_t handle);
  void dispatched(ttmem_workload_t handle, std::uint32_t flags);

  // The launch of a loaded workload. False: do it the long way.
  bool dispatched_hot(ttmem_workload_t handle) {
    const auto index = static_cast<std::uint32_t>(handle);
    if (index == 0 || !pool_.holds(index)) return false;
    Workload& workload = pool_[index];
    if (workload.membership.hot.load(std::memory_order_acquire) != handle) return false;
    count(workload);
    if (tells_launches_) tell_launch(workload, segment::Served::kHit);
    return true;
  }

  // Every launch is an event from now on.
  void tell_launches(bool wanted) { tells_launches_ = wanted; }

  // The slice of a live workload had left the ring. Under the lock.
  void count_reload(ttmem_workload_t handle);

  // Null for a handle that is not live. Needs no lock.
  Workload* live(ttmem_workload_t handle) const {
    const auto index = static_cast<std::uint32_t>(handle);
    if (index == 0 || !pool_.holds(index)) return nullptr;
    Workload& workload = pool_[index];
    return workload.handle.load(std::memory_order_acquire) == handle ? &workload : nullptr;
  }
  // The same, and says what is wrong with the handle.
  Workload* expect(ttmem_workload_t handle);

 private:
  void count(const Workload& workload) {
    segment::Payload& payload = writer_->store.slot(workload.slot).payload;
    const std::uint64_t now = coarse_ns();
    add_to(payload.a, 1);
    set_word(payload.b, writer_->store.next_order());
    set_word(payload.time, now);
  }
  // After count().
  void tell_launch(Workload& workload, segment::Served served);
  bool load_members(Workload& workload, bool launch);
  void mark_load(const Workload& workload, bool loaded);
  void release(Workload& workload);
  std::uint32_t find(std::uint64_t id) const;

  SegmentWriter* writer_ = nullptr;
  Devices* devices_ = nullptr;
  Buffers* buffers_ = nullptr;
  Programs* programs_ = nullptr;
  PrivatePool<Workload> pool_;
  SlotIndex ids_;
  bool tells_launches_ = false;
};

}  // namespace ttmem::client
