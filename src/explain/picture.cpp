// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The bank from bottom to top, and who holds it.
#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include <fmt/format.h>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

using ledger::AddressRange;
using ledger::HeldBlock;
using ledger::HeldKind;

constexpr std::size_t kOwnStrips = 5;  // the largest stretches; runs between them are one each
constexpr std::size_t kMostHolders = 10;
constexpr std::uint64_t kMostBanks = 64;  // that what was needed is drawn over

std::string block_name(const ledger::SpacePicture& picture, const HeldBlock& block) {
  if (block.kind == HeldKind::kKernelBinaries) return "kernel binaries";
  if (block.kind == HeldKind::kTrace) return "a trace";
  const ledger::HeldOrigin& origin = picture.origins[block.origin];
  if (origin.line.empty()) return origin.operation.empty() ? "a buffer" : origin.operation;
  return origin.operation.empty() ? origin.line
                                  : fmt::format("{} {}", origin.operation, origin.line);
}

// A stretch of the bank: a hole, or touching blocks of one origin.
struct Stretch {
  AddressRange range;
  std::uint64_t blocks = 0;          // 0 = a hole
  const HeldBlock* first = nullptr;  // of its blocks
};

// Calls visit(stretch) from bottom to top. There may be millions: they are never kept.
template <typename Visit>
void for_each_stretch(const ledger::SpacePicture& picture, Visit visit) {
  Stretch last{{picture.bank.begin, picture.bank.begin}};
  const auto visit_hole_up_to = [&](std::uint64_t end) {
    if (last.range.end < end) visit(Stretch{{last.range.end, end}});
  };
  for (const HeldBlock& block : picture.blocks) {
    const bool joins = last.first && last.range.end == block.range.begin &&
                       last.first->origin == block.origin && last.first->kind == block.kind;
    if (joins) {
      last.range.end = block.range.end;
      ++last.blocks;
      continue;
    }
    if (last.first) visit(last);
    visit_hole_up_to(block.range.begin);
    last = {block.range, 1, &block};
  }
  if (last.first) visit(last);
  visit_hole_up_to(picture.bank.end);
}

// How large a stretch must be to be shown by itself: as the fifth largest; and how many there
// are.
struct Shown {
  std::uint64_t least = 0;
  std::size_t at_least = 0;  // of exactly that size are shown
  std::size_t count = 0;
};

Shown which_are_shown(const ledger::SpacePicture& picture) {
  Shown shown;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> largest;
  for_each_stretch(picture, [&](const Stretch& stretch) {
    ++shown.count;
    if (largest.size() == kOwnStrips && size_of(stretch.range) <= largest.top()) return;
    if (largest.size() == kOwnStrips) largest.pop();
    largest.push(size_of(stretch.range));
  });
  if (largest.empty()) return shown;
  for (shown.least = largest.top(); !largest.empty() && largest.top() == shown.least;
       largest.pop()) {
    ++shown.at_least;
  }
  return shown;
}

Strip strip_of(const ledger::SpacePicture& picture, const Stretch& stretch) {
  if (stretch.blocks == 0) {
    return {StripKind::kHole, stretch.range, 0, size_of(stretch.range), ""};
  }
  return {StripKind::kHeld, stretch.range, stretch.blocks, 0, block_name(picture, *stretch.first)};
}

void add_to_run(Strip& run, const Stretch& stretch) {
  run.kind = StripKind::kMixed;
  run.name = "blocks and holes";
  run.range.end = stretch.range.end;
  run.blocks += stretch.blocks;
  if (stretch.blocks == 0) run.free += size_of(stretch.range);
}

// All stretches, if they are few; else the largest stay, and what lies between two of them becomes
// one.
std::vector<Strip> strips_of(const ledger::SpacePicture& picture) {
  Shown shown = which_are_shown(picture);
  const bool all = shown.count <= 2 * kOwnStrips + 1;
  std::vector<Strip> strips;
  bool in_run = false;
  for_each_stretch(picture, [&](const Stretch& stretch) {
    const std::uint64_t size = size_of(stretch.range);
    const bool stays = all || size > shown.least || (size == shown.least && shown.at_least > 0);
    if (stays && size == shown.least && shown.at_least > 0) --shown.at_least;
    if (stays || !in_run) {
      strips.push_back(strip_of(picture, stretch));
    } else {
      add_to_run(strips.back(), stretch);
    }
    in_run = !stays;
  });
  return strips;
}

// Where the request would have stood: in the largest hole, and as far beyond it as it is larger,
// but within the bank, if it has room for it. The region of L1_SMALL would have to begin lower.
void draw_needed(const Case& it, Findings& findings) {
  const std::uint64_t need = findings.sum.asked.value_or(0);
  const bool allocation =
      findings.verdict == Verdict::kTooLarge || findings.verdict == Verdict::kFull ||
      findings.verdict == Verdict::kScattered || findings.verdict == Verdict::kL1Small;
  if (need == 0 || !allocation || need / kMostBanks > size_of(it.space->bank)) return;
  const AddressRange largest = largest_hole(*it.space);
  AddressRange wanted{largest.begin, largest.begin + need};
  if (is_top_down(it.space->space) && largest.end >= need) {
    wanted = {largest.end - need, largest.end};
  }
  const AddressRange& bank = it.space->bank;
  if (need <= size_of(bank) && findings.verdict != Verdict::kL1Small) {
    const std::uint64_t begin = std::clamp(wanted.begin, bank.begin, bank.end - need);
    wanted = {begin, begin + need};
  }
  findings.picture.push_back({StripKind::kNeeded, wanted, 0, 0, "what was asked for"});
}

// All that a program wants, whether buffers or the end of L1 are in its way.
void draw_program(const Case& it, Findings& findings) {
  const bool too_large = findings.verdict == Verdict::kProgramTooLarge;
  if (!too_large && !findings.clash) return;
  const ledger::Figure end = too_large ? it.message.needed : findings.clash->region_end;
  const std::uint64_t base = it.space->unreserved_base.value_or(it.space->bank.begin);
  if (!end || *end <= base || (*end - base) / kMostBanks > size_of(it.space->bank)) return;
  const std::string& name = too_large ? it.failure.operation : findings.clash->program;
  findings.picture.push_back(
      {StripKind::kProgram, {base, *end}, 0, 0, name.empty() ? "the program" : name});
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
  findings.picture = strips_of(*it.space);
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
