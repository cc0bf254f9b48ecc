// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/slot_shadow.hpp"

#include <algorithm>
#include <unordered_set>

#include "collect/convert.hpp"

namespace ttmem::collect {

namespace {

using segment::BlobKind;
using segment::Kind;
using segment::Meta;
using segment::Payload;

constexpr std::uint64_t kLiveBit = 1ull << Meta::kLiveShift;
constexpr std::uint64_t kLoadedBit = std::uint64_t{segment::kFlagLoaded} << Meta::kFlagsShift;

}  // namespace

Payload SlotShadow::at(std::uint32_t slot) const {
  return slot < slots_.size() ? slots_[slot] : Payload{};
}

void SlotShadow::set(std::uint32_t slot, const Payload& payload) {
  if (slot >= segment::kMaxTableSlots) return;
  if (slot >= slots_.size()) slots_.resize(std::size_t{slot} + 1);
  index(slot, false);
  slots_[slot] = payload;
  index(slot, true);
}

void SlotShadow::index(std::uint32_t slot, bool add) {
  const Payload& payload = slots_[slot];
  if (!Meta::live(payload.meta)) return;
  const Kind kind = Meta::kind(payload.meta);
  if (kind == Kind::kBuffer) {
    live_buffers_ += add ? 1 : static_cast<std::uint64_t>(-1);
  } else if (kind == Kind::kWorkload) {
    if (add) {
      workloads_[payload.id] = slot;
    } else {
      workloads_.erase(payload.id);
    }
  } else if (kind == Kind::kProgram || kind == Kind::kKernel || kind == Kind::kRange) {
    Parts& parts = programs_[payload.id];
    auto& slots = kind == Kind::kProgram  ? parts.programs
                  : kind == Kind::kKernel ? parts.kernels
                                          : parts.ranges;
    if (add) {
      slots.insert(slot);
    } else {
      slots.erase(slot);
    }
    if (parts.empty()) programs_.erase(payload.id);
  }
}

void SlotShadow::rewind(const std::vector<Payload>& table, const segment::EventRun& run) {
  slots_.clear();
  programs_.clear();
  workloads_.clear();
  live_buffers_ = 0;
  slots_.reserve(table.size());
  for (std::uint32_t slot = 0; slot < table.size(); ++slot) set(slot, table[slot]);
  const bool whole = run.first == 1;
  std::unordered_set<std::uint32_t> seen;
  std::uint64_t floor = 0;  // no event from here on is older
  for (const segment::Event& event : run.events) {
    if (event.slot == segment::kNoSlot) {
      floor = std::max(floor, event.payload.time);
    } else if (seen.insert(event.slot).second) {
      set(event.slot, whole ? Payload{} : before(event.payload, floor));
    }
  }
}

// What stood in a slot before the first event of a run that does not start at the beginning.
Payload SlotShadow::before(const Payload& first, std::uint64_t floor) const {
  Payload payload = first;
  if (!Meta::live(first.meta)) {
    payload.meta |= kLiveBit;
    return payload;
  }
  const Kind kind = Meta::kind(first.meta);
  if (kind == Kind::kBuffer) return first.time < floor ? first : Payload{};
  if (kind == Kind::kWorkload && Meta::block(first.meta) > 0) {
    --payload.meta;  // one reload less
    return payload;
  }
  if (kind == Kind::kProgram && (first.meta & kLoadedBit) != 0) {
    const std::uint64_t loaded = first_dispatch(first.a);
    if (loaded == 0 || loaded >= floor) payload.meta &= ~kLoadedBit;
    return payload;
  }
  return Payload{};
}

std::uint32_t SlotShadow::core_count(std::uint32_t blob) const {
  const auto found = reader_.blobs().find(blob, BlobKind::kCores);
  return found ? std::max(core_set_of(*found).count, 1u) : 1u;  // not known counts as one
}

Contribution SlotShadow::contribution(const Payload& program) const {
  Contribution sum;
  const unsigned flags = Meta::flags(program.meta);
  if (!Meta::live(program.meta) || Meta::kind(program.meta) != Kind::kProgram ||
      (flags & (segment::kFlagHeld | segment::kFlagEstimated)) != 0) {
    return sum;
  }
  const auto found = programs_.find(program.id);
  if (found == programs_.end()) return sum;
  if ((flags & segment::kFlagLoaded) != 0) {
    for (const ledger::EventKernel& kernel : kernels(program.id)) sum.footprint += kernel.footprint;
  }
  const auto generation = static_cast<std::uint32_t>(program.b >> 32);
  for (const std::uint32_t slot : found->second.ranges) {
    const Payload& range = slots_[slot];
    const bool view = Meta::variant(range.meta) == static_cast<unsigned>(ledger::Part::kView);
    if (view || range.set != program.set || range.operation != generation) continue;
    sum.l1 += Meta::block(range.meta) * core_count(range.cores);
  }
  return sum;
}

std::vector<ledger::EventKernel> SlotShadow::kernels(std::uint64_t program) const {
  std::vector<ledger::EventKernel> list;
  const auto found = programs_.find(program);
  if (found == programs_.end()) return list;
  const auto text = [&](std::uint32_t id) {
    const auto blob = reader_.blobs().find(id, BlobKind::kString);
    return blob ? string_of(*blob) : std::string();
  };
  for (const std::uint32_t slot : found->second.kernels) {
    const Payload& payload = slots_[slot];
    const ledger::Record record = record_of(payload, reader_.blobs());
    const auto* kernel = std::get_if<ledger::KernelRecord>(&record);
    if (kernel == nullptr) continue;
    ledger::EventKernel view;
    view.name = text(kernel->name);
    view.source = text(kernel->source);
    view.core_type = kernel->core_type;
    view.processor = kernel->processor;
    view.packed_bytes = kernel->packed_bytes;
    view.cores = core_count(kernel->cores);
    view.footprint = std::uint64_t{view.packed_bytes} * view.cores;
    list.push_back(std::move(view));
  }
  return list;
}

std::uint64_t SlotShadow::first_dispatch(std::uint64_t workload) const {
  const auto found = workloads_.find(workload);
  if (found == workloads_.end()) return 0;
  return source_.launch_ticks(launches_of(slots_[found->second], source_.header().clock).first);
}

}  // namespace ttmem::collect
