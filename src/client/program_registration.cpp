// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How a program and its parts get into the table.
#include "client/atomic_words.hpp"
#include "client/programs.hpp"

namespace ttmem::client {

using segment::BlobKind;
using segment::Kind;
using segment::kNoSlot;
using segment::Meta;
using segment::Payload;

namespace {

constexpr std::uint32_t kMostParts = 1u << 16;  // kernels, or ranges, of one program

constexpr std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32;
}

Payload kernel_payload(std::uint64_t program, unsigned type, std::uint32_t index,
                       const ttmem_kernel& kernel) {
  return {
      .meta = Meta::pack(Kind::kKernel, true, 0, type, 0, 0),
      .id = program,
      .a = kernel.hash,
      .b = pair(kernel.packed_bytes, kernel.text_bytes),
      .time = segment::KernelPlace::pack(kernel.processor, kernel.core_type),
      .allocator = static_cast<std::uint16_t>(index),
      .cores = kernel.cores,
      .operation = kernel.name,
      .origin = kernel.source,
  };
}

Payload range_payload(std::uint64_t program, std::uint16_t set, std::uint32_t generation,
                      const ttmem_range& range) {
  return {
      .meta = Meta::pack(Kind::kRange, true, TTMEM_SPACE_L1, range.part, 0, range.size),
      .id = program,
      .a = range.address,
      .b = pair(range.page_bytes, range.index),
      .time = range.viewed_buffer,
      .set = set,
      .cores = range.cores,
      .operation = generation,
  };
}

bool same(const Payload& one, const Payload& other) {
  const auto a = std::bit_cast<PayloadWords>(one);
  const auto b = std::bit_cast<PayloadWords>(other);
  for (std::size_t i = 0; i < kPayloadWords; ++i) {
    if (a.word[i] != b.word[i]) return false;
  }
  return true;
}

}  // namespace

void Programs::registered(const ttmem_program& info, ttmem_origin_t origin) {
  const ColdCall call(writer_->store);
  if (devices_->list(info.set) == nullptr) {
    writer_->refuse(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, info.set);
    return;
  }
  if (info.type >= TTMEM_KERNEL_TYPES || info.kernel_count > kMostParts ||
      info.range_count > kMostParts) {
    writer_->refuse(TTMEM_ANOMALY_BAD_VALUE, info.id);
    return;
  }
  const std::uint32_t at = program_for(info);
  const std::uint32_t place = at == 0 ? 0 : placement_for(at, info.set);
  if (place == 0) {
    if (at != 0) release_if_empty(at);
    return;
  }
  Placement& placement = placements_[place];
  const std::uint32_t generation = ++generation_;
  std::uint32_t ranges = kNoSlot;
  if (!replace_kernels(programs_[at], info) ||
      !write_ranges(programs_[at], info.set, generation, info.ranges, info.range_count, &ranges)) {
    release_chain(&ranges);
    release_placement(place);
    release_if_empty(at);
    return;
  }
  const std::uint32_t config =
      writer_->interner.intern(BlobKind::kConfigSizes, info.config_bytes, sizeof info.config_bytes);
  unsigned flags = info.flags & (segment::kFlagEstimated | segment::kFlagRequestedOnly |
                                 segment::kFlagLaunchesUntold);
  if (placement.loaded) flags |= segment::kFlagLoaded;
  const ttmem_origin_t before =
      placement.live ? writer_->store.slot(placement.slot).payload.origin : ttmem_origin_t{0};
  placement.live = true;
  placement.counts = (info.flags & segment::kFlagEstimated) == 0;
  writer_->commit(placement.slot,
                  {
                      .meta = Meta::pack(Kind::kProgram, true, 0, info.type, flags, 0),
                      .id = info.id,
                      .a = placement.membership == nullptr ? 0 : placement.membership->workload_id,
                      .b = pair(config, generation),
                      .time = writer_->store.clock().now(),
                      .set = info.set,
                      .operation = info.name,
                      .origin = origin != 0 ? origin : before,
                  });
  placement.generation = generation;
  release_chain(&placement.ranges);
  placement.ranges = ranges;
}

std::uint32_t Programs::program_for(const ttmem_program& info) {
  if (const std::uint32_t known = find_program(info.id)) return known;
  const std::uint32_t at = programs_.take();
  if (at != 0) {
    programs_[at] = {};
    programs_[at].id = info.id;
    programs_[at].kernels = kNoSlot;
    if (writer_->enter(ids_, static_cast<std::uint32_t>(mix(info.id)), at)) return at;
    programs_.put_back(at);
  }
  writer_->refuse(TTMEM_ANOMALY_LIMIT, info.id);
  return 0;
}

std::uint32_t Programs::placement_for(std::uint32_t program, ttmem_set_t set) {
  for (std::uint32_t at = programs_[program].first_placement; at != 0;
       at = placements_[at].next_of_program) {
    if (placements_[at].set == set) return at;
  }
  const std::uint32_t slot = writer_->take_slot(SlotPool::kPlain);
  if (slot == kNoSlot) return 0;
  const std::uint32_t at = placements_.take();
  if (at == 0) {
    const LockGuard guard(writer_->store.lock);
    writer_->store.put_back(slot, SlotPool::kPlain);
    return 0;
  }
  Placement& placement = placements_[at];
  placement = {};
  placement.program = program;
  placement.next_of_program = programs_[program].first_placement;
  placement.slot = slot;
  placement.ranges = kNoSlot;
  placement.set = set;
  programs_[program].first_placement = at;
  return at;
}

// ---- kernels -------------------------------------------------------------------------------

bool Programs::has_kernels(const Program& program, const ttmem_program& info) const {
  if (program.kernel_count != info.kernel_count) return false;
  std::uint32_t slot = program.kernels;
  for (std::uint32_t i = info.kernel_count; i-- > 0; slot = writer_->store.link(slot)) {
    const Payload wanted = kernel_payload(info.id, info.type, i, info.kernels[i]);
    if (!same(writer_->store.slot(slot).payload, wanted)) return false;
  }
  return true;
}

// A program that brings no kernels keeps those it has. Other kernels have to be loaded anew.
bool Programs::replace_kernels(Program& program, const ttmem_program& info) {
  if (info.kernel_count == 0 || has_kernels(program, info)) return true;
  for (std::uint32_t at = program.first_placement; at != 0; at = placements_[at].next_of_program) {
    unload(placements_[at]);
  }
  release_chain(&program.kernels);
  program.kernel_count = 0;
  program.footprint = 0;
  for (std::uint32_t i = 0; i < info.kernel_count; ++i) {
    const ttmem_kernel& kernel = info.kernels[i];
    if (!write_chain(&program.kernels, kernel_payload(info.id, info.type, i, kernel))) return false;
    program.kernel_count = i + 1;
    program.footprint += kernel.packed_bytes * writer_->interner.core_count(kernel.cores);
  }
  return true;
}

// ---- ranges --------------------------------------------------------------------------------

bool Programs::write_ranges(const Program& program, std::uint16_t set, std::uint32_t generation,
                            const ttmem_range* ranges, std::uint32_t count, std::uint32_t* first) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!write_chain(first, range_payload(program.id, set, generation, ranges[i]))) return false;
  }
  return true;
}

bool Programs::write_chain(std::uint32_t* first, const Payload& payload) {
  const std::uint32_t slot = writer_->take_slot(SlotPool::kPlain);
  if (slot == kNoSlot) return false;
  writer_->commit(slot, payload);
  writer_->store.link(slot) = *first;
  *first = slot;
  return true;
}

void Programs::ranges_replaced(std::uint64_t id, ttmem_set_t set, const ttmem_range* ranges,
                               std::uint32_t count) {
  const ColdCall call(writer_->store);
  Placement* placement = expect(id, set);
  if (placement == nullptr) return;
  const std::uint32_t generation = ++generation_;
  std::uint32_t first = kNoSlot;
  if (count > kMostParts ||
      !write_ranges(programs_[placement->program], set, generation, ranges, count, &first)) {
    release_chain(&first);
    return;
  }
  change(*placement, [&](Payload& payload) {
    payload.b = pair(static_cast<std::uint32_t>(payload.b), generation);
  });
  placement->generation = generation;
  release_chain(&placement->ranges);
  placement->ranges = first;
  if (placement->loaded) raise_program_l1(*placement);
}

void Programs::config_sized(std::uint64_t id, ttmem_set_t set, const std::uint32_t* config_bytes) {
  const ColdCall call(writer_->store);
  Placement* placement = expect(id, set);
  if (placement == nullptr) return;
  const std::uint32_t config = writer_->interner.intern(BlobKind::kConfigSizes, config_bytes,
                                                        segment::kCoreTypes * sizeof *config_bytes);
  change(*placement, [&](Payload& payload) {
    payload.b = pair(config, static_cast<std::uint32_t>(payload.b >> 32));
  });
}

}  // namespace ttmem::client
