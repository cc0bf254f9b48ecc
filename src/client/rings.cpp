// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/rings.hpp"

#include <cstring>

#include "client/atomic_words.hpp"

namespace ttmem::client {

using segment::kMaxRingManagers;
using segment::kMaxRings;
using segment::Note;
using segment::RingManager;
using segment::RingPlan;
using segment::RingRules;

static_assert(sizeof ttmem_ring_launch::bytes / sizeof(std::uint32_t) >= kMaxRings);

bool Rings::open(SegmentWriter& writer, Devices& devices, Workloads& workloads) {
  writer_ = &writer;
  devices_ = &devices;
  workloads_ = &workloads;
  return states_.reserve(kMaxRingManagers);
}

RingManager& Rings::record(std::uint32_t id) const {
  return writer_->store.at<RingManager>(segment::kRingManagersOffset)[id];
}

template <class Use>
void Rings::use(ttmem_ring_manager_t id, Use use) {
  bool open = false;
  if (id != 0 && states_.is_ready(id)) {
    RingState& state = states_[id];
    const LockGuard guard(state.lock);
    open = state.open;
    if (open) use(record(id), state);
  }
  if (!open) writer_->report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, id);
}

template <class Change>
void Rings::change(ttmem_ring_manager_t id, Change change) {
  use(id, [&](RingManager& manager, RingState& state) {
    writer_->store.rewrite(manager, [&](RingManager& record) { change(record, state); });
  });
}

namespace {

std::uint64_t id_of(const Workload* workload) {
  return workload == nullptr ? 0 : workload->membership.workload_id;
}

}  // namespace

// ---- open and close ------------------------------------------------------------------------

std::uint32_t Rings::free_record() {
  const std::uint32_t count = writer_->store.header().ring_manager_count;
  for (std::uint32_t id = 1; id <= count; ++id) {
    if (count + 1 == kMaxRingManagers && !states_[id].open) return id;
  }
  if (count + 1 >= kMaxRingManagers || !states_.prepare(count + 2)) return 0;
  const bool ready = writer_->store.prepare(segment::SectionKind::kRingManagers,
                                            (count + 2) * sizeof(RingManager));
  return ready ? count + 1 : 0;
}

ttmem_ring_manager_t Rings::opened(ttmem_set_t set, std::uint32_t queue, std::uint32_t sub_device,
                                   const ttmem_ring* rings, std::uint32_t count, bool observed) {
  const ColdCall call(writer_->store);
  if (devices_->list(set) == nullptr) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, set);
    return 0;
  }
  const std::uint32_t id = free_record();
  if (id == 0) {
    writer_->refuse(TTMEM_ANOMALY_LIMIT, kMaxRingManagers);
    return 0;
  }
  RingState& state = states_[id];
  const LockGuard guard(state.lock);
  writer_->store.rewrite(record(id), [&](RingManager& manager) {
    const std::uint64_t version = manager.version;
    manager = {};
    manager.version = version;
    manager.set = set;
    manager.observed = observed;
    manager.open = 1;
    manager.queue = queue;
    manager.sub_device = sub_device;
    manager.ring_count = count < kMaxRings ? count : kMaxRings;
    for (std::uint32_t i = 0; i < manager.ring_count; ++i) {
      manager.rings[i].core_type = rings[i].core_type;
      manager.rings[i].base = rings[i].base;
      manager.rings[i].bytes = rings[i].bytes;
      state.contents[i].clear();
    }
    RingRules(manager).reset();
  });
  state.has_saved = false;
  state.used = 0;
  state.open = true;
  auto& header = writer_->store.header();
  if (id > header.ring_manager_count) publish(header.ring_manager_count, id);
  return static_cast<ttmem_ring_manager_t>(id);
}

void Rings::closed(ttmem_ring_manager_t id) {
  change(id, [](RingManager& manager, RingState& state) {
    manager.open = 0;
    state.open = false;
  });
}

// ---- what happens in a ring ----------------------------------------------------------------

void Rings::freed(ttmem_ring_manager_t id, std::uint32_t sync) {
  change(id, [&](RingManager& manager, RingState&) { RingRules(manager).free(sync); });
}

[[gnu::hot]] void Rings::launched(ttmem_ring_manager_t id, const ttmem_ring_launch& launch) {
  bool reloaded = false;
  Workload* workload = workloads_->live(launch.workload);
  const std::uint64_t workload_id = id_of(workload);
  const std::uint32_t* freed = launch.has_freed != 0 ? &launch.freed : nullptr;
  change(id, [&](RingManager& manager, RingState& state) {
    bool was_there = true;
    ++manager.reserves;
    for (std::uint32_t i = 0; i < manager.ring_count; ++i) {
      const std::uint32_t bytes = launch.bytes[i];
      if (bytes != 0) {
        state.used |= 1u << i;
        const std::uint32_t address =
            RingRules::launched(manager.rings[i], bytes, freed, launch.sync, workload_id);
        was_there &=
            write(manager, state, i, {address, address + bytes, launch.workload, workload_id});
      } else if (freed != nullptr && (state.used >> i & 1) != 0) {
        RingRules::free(manager.rings[i], *freed);
      }
    }
    reloaded = is_reload(id, manager, workload, was_there);
  });
  if (reloaded) [[unlikely]]
    note_reload(record(id), launch.workload);
}

void Rings::simulated(ttmem_ring_manager_t id, ttmem_workload_t handle, const std::uint32_t* bytes,
                      std::uint32_t count, std::uint32_t workers, bool first) {
  bool reloaded = false;
  Workload* workload = workloads_->live(handle);
  const std::uint64_t workload_id = id_of(workload);
  change(id, [&](RingManager& manager, RingState& state) {
    const RingPlan plan = RingRules(manager).launch(bytes, count, workers, first, workload_id);
    bool was_there = true;
    for (std::uint32_t i = 0; i < plan.count; ++i) {
      if (plan.bytes[i] == 0) continue;
      state.used |= 1u << i;
      was_there &= write(manager, state, i,
                         {plan.address[i], plan.address[i] + plan.bytes[i], handle, workload_id});
    }
    reloaded = is_reload(id, manager, workload, was_there);
  });
  if (reloaded) note_reload(record(id), handle);
}

[[gnu::hot, gnu::noinline]] bool Rings::write(RingManager& manager, RingState& state,
                                              std::uint32_t ring,
                                              const RingContents::Writing& slice) {
  return state.contents[ring].write(manager.contents[ring], slice, [&](std::uint64_t other) {
    if (workloads_->live(other) != nullptr) ++manager.evictions;
  });
}

bool Rings::is_reload(ttmem_ring_manager_t id, RingManager& manager, Workload* workload,
                      bool was_there) {
  if (workload == nullptr) return false;
  const std::uint64_t bit = 1ull << id;
  const bool had_slice = (workload->ring_managers.load(std::memory_order_relaxed) & bit) != 0;
  if (!had_slice) workload->ring_managers.fetch_or(bit);
  const bool reloaded = had_slice && !was_there;
  if (reloaded) ++manager.reloads;
  return reloaded;
}

[[gnu::cold]] void Rings::note_reload(const RingManager& manager, ttmem_workload_t workload) {
  const DeviceList& list = *devices_->list(manager.set);
  const LockGuard guard(writer_->store.lock);
  for (std::uint16_t i = 0; i < list.count; ++i) {
    ++writer_->store.counters().reloads[list.devices[i]];
  }
  workloads_->count_reload(workload);
}

void Rings::filled(ttmem_ring_manager_t id, std::uint32_t sync) {
  bool known = false;
  change(id, [&](RingManager& manager, RingState& state) {
    known = true;
    RingRules(manager).fill(sync);
    state.used = ~0u;
    for (std::uint32_t i = 0; i < manager.ring_count; ++i) {
      state.contents[i].write_all(manager.contents[i], manager.rings[i], [&](std::uint64_t other) {
        if (workloads_->live(other) != nullptr) ++manager.evictions;
      });
    }
  });
  if (known) writer_->note(Note::kRingFull, {.id = id, .set = record(id).set});
}

void Rings::reset(ttmem_ring_manager_t id) {
  change(id, [](RingManager& manager, RingState&) { RingRules(manager).reset(); });
}

void Rings::saved(ttmem_ring_manager_t id) {
  change(id, [](RingManager& manager, RingState& state) {
    std::memcpy(state.saved, manager.rings, sizeof state.saved);
    state.has_saved = true;
  });
}

// Places in the queue come back; what the rings were used for in between stays on record.
void Rings::restored(ttmem_ring_manager_t id) {
  change(id, [](RingManager& manager, RingState& state) {
    if (!state.has_saved) return;
    for (std::uint32_t i = 0; i < manager.ring_count; ++i) {
      segment::Ring& ring = manager.rings[i];
      ring.alloc_index = state.saved[i].alloc_index;
      ring.free_index = state.saved[i].free_index;
      std::memcpy(ring.entries, state.saved[i].entries, sizeof ring.entries);
    }
    state.has_saved = false;
  });
}

}  // namespace ttmem::client
