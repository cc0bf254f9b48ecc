// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/programs.hpp"

#include <cstring>

namespace ttmem::client {

using segment::kFlagHeld;
using segment::kFlagLoaded;
using segment::kNoSlot;
using segment::Meta;
using segment::Payload;

namespace {

void set_flag(Payload& payload, unsigned flag, bool on) {
  const std::uint64_t bit = std::uint64_t{flag} << Meta::kFlagsShift;
  payload.meta = on ? payload.meta | bit : payload.meta & ~bit;
}

}  // namespace

bool Programs::open(SegmentWriter& writer, Devices& devices) {
  writer_ = &writer;
  devices_ = &devices;
  const std::uint32_t most = writer.most_records();
  return programs_.reserve(most) && placements_.reserve(most) && ids_.open() && program_l1_.open();
}

std::uint32_t Programs::find_program(std::uint64_t id) const {
  const std::uint32_t found =
      ids_.find(writer_->overflow, tag_of_id(id),
                [&](std::uint32_t program) { return programs_[program].id == id; });
  return found == SlotIndex::kNone ? 0 : found;
}

std::uint32_t Programs::find(std::uint64_t id, ttmem_set_t set) const {
  const std::uint32_t program = find_program(id);
  if (program == 0) return 0;
  std::uint32_t at = programs_[program].first_placement;
  while (at != 0 && placements_[at].set != set) at = placements_[at].next_of_program;
  return at;
}

Placement* Programs::expect(std::uint64_t id, ttmem_set_t set) {
  const std::uint32_t found = find(id, set);
  if (found != 0) return &placements_[found];
  writer_->report(TTMEM_ANOMALY_UNKNOWN_PROGRAM, id);
  return nullptr;
}

// ---- membership of a workload --------------------------------------------------------------

void Programs::join(Placement& placement, Membership& membership, ttmem_origin_t origin) {
  unlink(placement);
  placement.membership = &membership;
  placement.next_of_workload = membership.first;
  membership.first = static_cast<std::uint32_t>(&placement - &placements_[0]);
  if (!placement.loaded) membership.hot.store(0, std::memory_order_relaxed);
  change(placement, [&](Payload& payload) {
    payload.a = membership.workload_id;
    if (payload.origin == 0) payload.origin = origin;
  });
}

void Programs::leave(Placement& placement) {
  if (placement.membership == nullptr) return;
  unlink(placement);
  change(placement, [](Payload& payload) { payload.a = 0; });
}

void Programs::unlink(Placement& placement) {
  if (placement.membership == nullptr) return;
  const auto index = static_cast<std::uint32_t>(&placement - &placements_[0]);
  std::uint32_t* link = &placement.membership->first;
  while (*link != index) link = &placements_[*link].next_of_workload;
  *link = placement.next_of_workload;
  placement.membership = nullptr;
}

// ---- loaded or not -------------------------------------------------------------------------

void Programs::load(Placement& placement) {
  if (placement.loaded) return;
  raise_program_l1(placement);
  placement.loaded = true;
  const Program& program = programs_[placement.program];
  change(placement, [&](Payload& payload) {
    if (placement.counts) {
      writer_->figures.raise(segment::kFigureKernels, *devices_->list(placement.set),
                             program.footprint);
    }
    set_flag(payload, kFlagLoaded, true);
  });
}

void Programs::unload(Placement& placement) {
  if (!placement.loaded) return;
  placement.loaded = false;
  if (placement.membership != nullptr) {
    placement.membership->hot.store(0, std::memory_order_relaxed);
  }
  const Program& program = programs_[placement.program];
  change(placement, [&](Payload& payload) {
    if (placement.counts) {
      writer_->figures.lower(segment::kFigureKernels, *devices_->list(placement.set),
                             program.footprint);
    }
    set_flag(payload, kFlagLoaded, false);
  });
}

void Programs::unload_on(ttmem_device_t device) {
  for (std::uint32_t at = 1; at < placements_.used(); ++at) {
    Placement& placement = placements_[at];
    if (placement.live && devices_->list(placement.set)->contains(device)) unload(placement);
  }
}

void Programs::raise_program_l1(const Placement& placement) {
  program_l1_.begin();
  for_each_range(placement, [&](std::uint32_t slot) {
    const Payload& range = writer_->store.slot(slot).payload;
    if (Meta::variant(range.meta) == TTMEM_PART_VIEW) return;
    const segment::Blob* cores = writer_->interner.find(range.cores, segment::BlobKind::kCores);
    if (cores == nullptr) {
      program_l1_.add_unknown_core(Meta::block(range.meta));
      return;
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(cores + 1);
    if (cores->bytes == segment::kCoreCountBytes) {
      program_l1_.add_unknown_core(Meta::block(range.meta) * segment::told_cores(bytes));
      return;
    }
    const auto* ranges = reinterpret_cast<const ttmem_core_range*>(bytes + 4);
    for (std::uint32_t i = 0; i < (cores->bytes - 4) / sizeof *ranges; ++i) {
      program_l1_.add(bytes[0], ranges[i], Meta::block(range.meta));
    }
  });
  const DeviceList& list = *devices_->list(placement.set);
  for (std::uint16_t i = 0; i < list.count; ++i) {
    const std::uint64_t sum = program_l1_.merge(list.devices[i]);
    const LockGuard guard(writer_->store.lock);
    writer_->figures.set_program_l1(list.devices[i], sum);
  }
}

// ---- the end -------------------------------------------------------------------------------

void Programs::released(std::uint64_t id) {
  const ColdCall call(writer_->store);
  const std::uint32_t program = find_program(id);
  bool known = false;
  std::uint32_t next = program == 0 ? 0 : programs_[program].first_placement;
  while (next != 0) {
    const std::uint32_t at = next;
    Placement& placement = placements_[at];
    next = placement.next_of_program;
    const bool held = !placement.live;
    known = known || !held;
    if (!held) end(at);
  }
  if (program != 0) release_if_empty(program);
  if (!known) writer_->report(TTMEM_ANOMALY_UNKNOWN_PROGRAM, id);
}

void Programs::released_on(std::uint64_t id, ttmem_set_t set) {
  const ColdCall call(writer_->store);
  const std::uint32_t at = find(id, set);
  if (at == 0 || !placements_[at].live) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_PROGRAM, id, set);
    return;
  }
  const std::uint32_t program = placements_[at].program;
  end(at);
  release_if_empty(program);
}

// What a live trace replays stays until the trace goes.
void Programs::end(std::uint32_t at) {
  Placement& placement = placements_[at];
  if (placement.traces == 0) {
    release_placement(at);
    return;
  }
  leave(placement);
  unload(placement);
  placement.live = false;
  placement.counts = false;
  change(placement, [](Payload& payload) { set_flag(payload, kFlagHeld, true); });
}

void Programs::let_go(std::uint32_t at) {
  Placement& placement = placements_[at];
  if (--placement.traces > 0 || placement.live) return;
  const std::uint32_t program = placement.program;
  release_placement(at);
  release_if_empty(program);
}

// The placement's slot first, so that its ranges count no more when they go.
void Programs::release_placement(std::uint32_t at) {
  Placement& placement = placements_[at];
  unlink(placement);
  {
    const LockGuard guard(writer_->store.lock);
    if (placement.loaded && placement.counts) {
      writer_->figures.lower(segment::kFigureKernels, *devices_->list(placement.set),
                             programs_[placement.program].footprint);
    }
    writer_->store.commit_release(placement.slot, writer_->store.clock().now());
    writer_->store.put_back(placement.slot, SlotPool::kPlain);
  }
  release_chain(&placement.ranges);
  std::uint32_t* link = &programs_[placement.program].first_placement;
  while (*link != at) link = &placements_[*link].next_of_program;
  *link = placement.next_of_program;
  placement = {};
  placements_.put_back(at);
}

void Programs::release_if_empty(std::uint32_t at) {
  Program& program = programs_[at];
  if (program.first_placement != 0) return;
  release_chain(&program.kernels);
  ids_.take(writer_->overflow, tag_of_id(program.id),
            [&](std::uint32_t found) { return found == at; });
  program = {};
  programs_.put_back(at);
}

void Programs::release_chain(std::uint32_t* first) {
  while (*first != kNoSlot) {
    const std::uint32_t slot = *first;
    *first = writer_->store.link(slot);
    writer_->release(slot, SlotPool::kPlain);
  }
}

using segment::kCoreTypes;

bool ProgramL1::open() {
  used_ = kCoreTypes;
  return cores_.reserve(kCoreTypes * (segment::kMaxDevices + 1)) && cores_.prepare(kCoreTypes);
}

void ProgramL1::begin() {
  for (std::uint32_t type = 0; type < kCoreTypes; ++type) {
    if (touched_[type]) std::memset(&cores_[type], 0, sizeof(Cores));
    touched_[type] = false;
  }
}

void ProgramL1::add(std::uint32_t core_type, const ttmem_core_range& cores, std::uint64_t bytes) {
  if (core_type >= kCoreTypes) return;
  touched_[core_type] = true;
  for (std::uint32_t y = cores.y0; y <= cores.y1; ++y) {
    for (std::uint32_t x = cores.x0; x <= cores.x1; ++x) {
      const bool inside = x < Cores::kSide && y < Cores::kSide;
      const std::uint32_t at = inside ? y * Cores::kSide + x : Cores::kElsewhere;
      cores_[core_type].bytes[at] += static_cast<std::uint32_t>(bytes);
    }
  }
}

void ProgramL1::add_unknown_core(std::uint64_t bytes) {
  touched_[0] = true;
  cores_[0].bytes[Cores::kElsewhere] += static_cast<std::uint32_t>(bytes);
}

ProgramL1::Cores* ProgramL1::of(std::uint16_t device, std::uint32_t core_type) {
  std::uint16_t& place = place_[device][core_type];
  if (place == 0) {
    if (!cores_.prepare(used_ + 1u)) return nullptr;
    place = static_cast<std::uint16_t>(used_++);
  }
  return &cores_[place];
}

std::uint64_t ProgramL1::merge(std::uint16_t device) {
  for (std::uint32_t type = 0; type < kCoreTypes; ++type) {
    Cores* largest = touched_[type] ? of(device, type) : nullptr;
    if (largest == nullptr) continue;
    for (std::uint32_t core = 0; core < Cores::kSide * Cores::kSide; ++core) {
      const std::uint32_t bytes = cores_[type].bytes[core];
      if (bytes <= largest->bytes[core]) continue;
      sum_[device] += bytes - largest->bytes[core];
      largest->bytes[core] = bytes;
    }
  }
  return sum_[device];
}

}  // namespace ttmem::client
