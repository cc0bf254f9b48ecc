// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The bank from bottom to top, and who holds it.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

using ledger::AddressRange;
using ledger::HeldBlock;
using ledger::HeldKind;

constexpr std::size_t kOwnStrips = 12;  // the largest stretches; runs between them are one each
constexpr std::size_t kMostHolders = 10;

std::string block_name(const ledger::SpacePicture& picture, const HeldBlock& block) {
  if (block.kind == HeldKind::kKernelBinaries) return "kernel binaries";
  if (block.kind == HeldKind::kTrace) return "a trace";
  const ledger::HeldOrigin& origin = picture.origins[block.origin];
  if (origin.line.empty()) return origin.operation.empty() ? "a buffer" : origin.operation;
  return origin.operation.empty() ? origin.line
                                  : fmt::format("{} {}", origin.operation, origin.line);
}

// Every stretch, touching blocks of one origin as one.
std::vector<Strip> all_strips(const ledger::SpacePicture& picture) {
  std::vector<Strip> strips;
  std::uint64_t at = picture.bank.begin;
  const auto add_hole = [&](std::uint64_t end) {
    if (at < end) strips.push_back({StripKind::kHole, {at, end}, 0, end - at, ""});
  };
  const HeldBlock* last = nullptr;
  for (const HeldBlock& block : picture.blocks) {
    if (block.range.begin > at || !last) add_hole(std::min(block.range.begin, picture.bank.end));
    const bool joins = last && last->range.end == block.range.begin &&
                       last->origin == block.origin && last->kind == block.kind;
    if (joins) {
      strips.back().range.end = block.range.end;
      ++strips.back().blocks;
    } else {
      strips.push_back({StripKind::kHeld, block.range, 1, 0, block_name(picture, block)});
    }
    at = std::max(at, block.range.end);
    last = &block;
  }
  add_hole(picture.bank.end);
  return strips;
}

void add_to_run(Strip& run, const Strip& strip) {
  run.range.end = strip.range.end;
  run.blocks += strip.blocks;
  run.free += strip.free;
}

// The largest stay; what lies between two of them becomes one.
std::vector<Strip> fewer(std::vector<Strip> strips) {
  if (strips.size() <= 2 * kOwnStrips + 1) return strips;
  std::vector<std::size_t> order(strips.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::nth_element(order, order.begin() + kOwnStrips, std::ranges::greater{},
                           [&](std::size_t i) { return size_of(strips[i].range); });
  std::vector<bool> stays(strips.size());
  for (std::size_t i = 0; i < kOwnStrips; ++i) stays[order[i]] = true;
  std::vector<Strip> few;
  bool in_run = false;
  for (std::size_t i = 0; i < strips.size(); ++i) {
    if (stays[i] || !in_run) {
      few.push_back(std::move(strips[i]));
    } else {
      few.back().kind = StripKind::kMixed;
      few.back().name = "blocks and holes";
      add_to_run(few.back(), strips[i]);
    }
    in_run = !stays[i];
  }
  return few;
}

// Where the request would have stood: in the largest hole, and as far beyond it as it is larger.
void draw_needed(const Case& it, Findings& findings) {
  const std::uint64_t need = findings.sum.asked.value_or(0);
  const bool allocation = findings.verdict == Verdict::kFull ||
                          findings.verdict == Verdict::kScattered ||
                          findings.verdict == Verdict::kL1Small;
  if (need == 0 || !allocation || need > size_of(it.space->bank)) return;
  AddressRange largest{it.space->bank.begin, it.space->bank.begin};
  for (const AddressRange& hole : it.free_list().holes()) {
    if (size_of(hole) > size_of(largest)) largest = hole;
  }
  AddressRange wanted{largest.begin, largest.begin + need};
  if (is_top_down(it.space->space) && largest.end >= need) {
    wanted = {largest.end - need, largest.end};
  }
  findings.picture.push_back({StripKind::kNeeded, wanted, 0, 0, "what was asked for"});
}

void draw_program(const Case& it, Findings& findings) {
  if (!findings.clash || !findings.clash->region_end) return;
  const std::uint64_t base = it.space->unreserved_base.value_or(it.space->bank.begin);
  findings.picture.push_back(
      {StripKind::kProgram, {base, *findings.clash->region_end}, 0, 0, findings.clash->program});
}

Holder holder_of(const Case& it, const HeldGroup& group) {
  Holder holder;
  holder.origin = it.origin(group);
  holder.kind = group.kind;
  holder.bytes = group.bytes;
  holder.taken = group.bytes * it.space->banks;
  holder.count = group.blocks.size();
  holder.lowest = it.block(group.blocks.front()).range.begin;
  for (const std::uint32_t index : group.blocks) {
    const HeldBlock& block = it.block(index);
    if (block.since != 0 && (holder.oldest == 0 || block.since < holder.oldest))
      holder.oldest = block.since;
    holder.newest = std::max(holder.newest, block.since);
    holder.last_use = std::max(holder.last_use, block.last_use);
  }
  return holder;
}

}  // namespace

void draw_bank(const Case& it, Findings& findings) {
  if (!is_sound(*it.space)) return;
  findings.picture = fewer(all_strips(*it.space));
  draw_needed(it, findings);
  draw_program(it, findings);
}

// In a clash those below the end of the program come first, the lowest before all; else the
// largest.
void find_holders(const Case& it, Findings& findings) {
  const std::uint64_t below =
      findings.clash ? findings.clash->region_end.value_or(0) : std::uint64_t{0};
  std::vector<const HeldGroup*> order;
  for (const HeldGroup& group : it.groups) order.push_back(&group);
  std::ranges::stable_sort(order, {}, [&](const HeldGroup* group) {
    const std::uint64_t lowest = it.block(group->blocks.front()).range.begin;
    return lowest < below ? lowest : ~std::uint64_t{0};
  });
  for (const HeldGroup* group : order) {
    if (findings.holders.size() == kMostHolders) break;
    findings.holders.push_back(holder_of(it, *group));
  }
  findings.holders_left_out = order.size() - findings.holders.size();
}

}  // namespace ttmem::explain
