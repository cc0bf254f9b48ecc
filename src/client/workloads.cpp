// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/workloads.hpp"

#include "client/atomic_words.hpp"

namespace ttmem::client {

using segment::Kind;
using segment::kNoSlot;
using segment::Meta;
using segment::Payload;

namespace {

constexpr unsigned kNonceShift = 48, kReuseShift = 32;

}  // namespace

bool Workloads::open(SegmentWriter& writer, Devices& devices, Buffers& buffers,
                     Programs& programs) {
  writer_ = &writer;
  devices_ = &devices;
  buffers_ = &buffers;
  programs_ = &programs;
  return pool_.reserve(writer.most_records()) && ids_.open();
}

Workload* Workloads::expect(ttmem_workload_t handle) {
  Workload* workload = live(handle);
  if (workload != nullptr) return workload;
  const bool ours = handle >> kNonceShift == (writer_->store.instance() & 0xFFFF);
  writer_->refuse(handle == 0 || ours ? TTMEM_ANOMALY_UNKNOWN_WORKLOAD : TTMEM_ANOMALY_STALE_HANDLE,
                  handle);
  return nullptr;
}

std::uint32_t Workloads::find(std::uint64_t id) const {
  const std::uint32_t found = ids_.find(writer_->overflow, tag_of_id(id), [&](std::uint32_t index) {
    return pool_[index].membership.workload_id == id;
  });
  return found == SlotIndex::kNone ? 0 : found;
}

ttmem_workload_t Workloads::created(std::uint64_t id, ttmem_set_t set, ttmem_origin_t origin) {
  const ColdCall call(writer_->store);
  if (devices_->list(set) == nullptr) {
    writer_->refuse(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, set);
    return 0;
  }
  if (const std::uint32_t known = find(id)) {
    writer_->report(TTMEM_ANOMALY_REPLACED, id);
    release(pool_[known]);
  }
  const std::uint32_t slot = writer_->take_slot(SlotPool::kLiveWords);
  if (slot == kNoSlot) return 0;
  const std::uint32_t index = pool_.take();
  if (index == 0 || !writer_->enter(ids_, tag_of_id(id), index)) {
    writer_->release(slot, SlotPool::kLiveWords);
    writer_->refuse(TTMEM_ANOMALY_LIMIT, id);
    return 0;
  }
  Workload& workload = pool_[index];
  workload.slot = slot;
  workload.set = set;
  workload.membership.workload_id = id;
  workload.membership.first = 0;
  workload.ring_managers.store(0, std::memory_order_relaxed);
  workload.reloaded.store(false, std::memory_order_relaxed);
  ++workload.reuses;
  // Instance, reuse and index: a handle of before a fork, or of a workload whose place is in use
  // again, is noticed instead of counting for a stranger.
  const ttmem_workload_t handle = (writer_->store.instance() & 0xFFFF) << kNonceShift |
                                  std::uint64_t{workload.reuses} << kReuseShift | index;
  writer_->commit(slot, {.meta = Meta::pack(Kind::kWorkload, true, 0, 0, 0, 0),
                         .id = id,
                         .set = set,
                         .cores = kNoSlot,
                         .origin = origin});
  workload.handle.store(handle, std::memory_order_release);
  return handle;
}

void Workloads::joined(ttmem_workload_t handle, std::uint64_t program, ttmem_set_t set,
                       ttmem_origin_t origin) {
  const ColdCall call(writer_->store);
  Workload* workload = expect(handle);
  if (workload == nullptr) return;
  const std::uint32_t placement = programs_->find(program, set);
  if (placement == 0) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_PROGRAM, program);
    return;
  }
  programs_->join((*programs_)[placement], workload->membership, origin);
}

void Workloads::binaries(ttmem_workload_t handle, ttmem_allocator_t allocator,
                         std::uint64_t buffer) {
  const ColdCall call(writer_->store);
  Workload* workload = expect(handle);
  if (workload == nullptr) return;
  AllocatorState* state = buffers_->state(allocator);
  if (state == nullptr) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, allocator);
  } else if (!buffers_->bind_binaries(*state, buffer, workload->slot)) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_FREE, buffer);
  }
}

// ---- dispatch ------------------------------------------------------------------------------

void Workloads::dispatched(ttmem_workload_t handle, std::uint32_t flags) {
  const ColdCall call(writer_->store);
  Workload* workload = expect(handle);
  if (workload == nullptr) return;
  const bool launch = (flags & TTMEM_DISPATCH_BUILT) == 0;
  const bool loaded = load_members(*workload, launch);
  mark_load(*workload, loaded && launch);
  if (!launch) return;
  count(*workload);
  if (tells_launches_) {
    tell_launch(*workload, loaded ? segment::Served::kFirstLoad : segment::Served::kHit);
  }
  if ((flags & TTMEM_DISPATCH_SLOW) != 0) {
    const DeviceList& list = *devices_->list(workload->set);
    const LockGuard guard(writer_->store.lock);
    for (std::uint16_t i = 0; i < list.count; ++i) {
      ++writer_->store.counters().slow_dispatches[list.devices[i]];
    }
  }
  // From now on a launch takes the short way: two words, no lock.
  workload->membership.hot.store(handle, std::memory_order_release);
}

// The ring is told before the launch: what it found there is known by now.
[[gnu::hot]] void Workloads::tell_launch(Workload& workload, segment::Served served) {
  const bool reloaded = workload.reloaded.exchange(false, std::memory_order_relaxed);
  if (reloaded && served == segment::Served::kHit) served = segment::Served::kReload;
  const std::uint64_t launches = get_word(writer_->store.slot(workload.slot).payload.a);
  const LockGuard guard(writer_->store.lock);
  writer_->store.note(segment::Note::kLaunched, {.id = workload.membership.workload_id,
                                                 .a = launches,
                                                 .b = static_cast<std::uint64_t>(served),
                                                 .set = workload.set});
}

// A launch that loads two programs on one chip is one first load there. Says whether any was
// loaded.
bool Workloads::load_members(Workload& workload, bool launch) {
  bool loaded_on[segment::kMaxDevices] = {};
  bool loaded = false;
  for (std::uint32_t at = workload.membership.first; at != 0;
       at = (*programs_)[at].next_of_workload) {
    Placement& placement = (*programs_)[at];
    if (placement.loaded) continue;
    programs_->load(placement);
    loaded = true;
    const DeviceList& list = *devices_->list(placement.set);
    for (std::uint16_t i = 0; i < list.count; ++i) loaded_on[list.devices[i]] = true;
  }
  if (!launch) return loaded;
  const LockGuard guard(writer_->store.lock);
  for (std::uint32_t device = 0; device < segment::kMaxDevices; ++device) {
    if (loaded_on[device]) ++writer_->store.counters().first_loads[device];
  }
  return loaded;
}

void Workloads::mark_load(const Workload& workload, bool loaded) {
  const LockGuard guard(writer_->store.lock);
  Payload payload = load_payload(writer_->store.slot(workload.slot).payload);
  const bool first = payload.operation == 0;
  if (!first && !loaded) return;
  if (first) payload.operation = writer_->store.first_time(coarse_ns());
  if (loaded && payload.allocator != UINT16_MAX) ++payload.allocator;
  writer_->store.commit_beside_live_words(workload.slot, payload);
}

void Workloads::count_reload(ttmem_workload_t handle) {
  Workload* workload = live(handle);
  if (workload == nullptr) return;
  workload->reloaded.store(true, std::memory_order_relaxed);
  Payload payload = load_payload(writer_->store.slot(workload->slot).payload);
  if (Meta::block(payload.meta) < segment::kMaxBlockBytes) ++payload.meta;
  payload.time = coarse_ns();
  writer_->store.commit_beside_live_words(workload->slot, payload);
}

// ---- the end -------------------------------------------------------------------------------

void Workloads::released(ttmem_workload_t handle) {
  const ColdCall call(writer_->store);
  if (Workload* workload = expect(handle)) release(*workload);
}

void Workloads::release(Workload& workload) {
  const auto index = static_cast<std::uint32_t>(workload.handle.load(std::memory_order_relaxed));
  workload.membership.hot.store(0, std::memory_order_relaxed);
  workload.handle.store(0, std::memory_order_relaxed);
  while (workload.membership.first != 0) {
    programs_->leave((*programs_)[workload.membership.first]);
  }
  buffers_->unbind_binaries(workload.slot);
  {
    const DeviceList& list = *devices_->list(workload.set);
    const LockGuard guard(writer_->store.lock);
    // The live word goes with its slot, so what it counted moves to the device.
    const std::uint64_t launches = get_word(writer_->store.slot(workload.slot).payload.a);
    for (std::uint16_t i = 0; i < list.count; ++i) {
      writer_->store.counters().dispatches[list.devices[i]] += launches;
    }
    writer_->store.commit_release(workload.slot);
    writer_->store.put_back(workload.slot, SlotPool::kLiveWords);
  }
  ids_.take(writer_->overflow, tag_of_id(workload.membership.workload_id),
            [&](std::uint32_t found) { return found == index; });
  pool_.put_back(index);
}

}  // namespace ttmem::client
