// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/live.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/duration_text.hpp"
#include "explain/case.hpp"
#include "explain/cures.hpp"

namespace ttmem::explain {
namespace {

using ledger::AddressRange;
using ledger::Space;
using ledger::SpacePicture;

constexpr std::size_t kShownHolders = 5;
constexpr std::size_t kMostTried = 64;     // moves that are tried out
constexpr std::uint64_t kWorthwhile = 16;  // a move must enlarge the hole by a 16th of it
constexpr double kSoon = 3600;             // seconds; a later end is no news

// ---- how full, how scattered -------------------------------------------------------------------

Case case_of(const ledger::FailureView& nothing, const SpacePicture& picture,
             const SpacePicture* dram) {
  Case it{nothing, {}, &picture, dram, groups_of(picture), {}, is_sound(picture)};
  return it;
}

void sum_up(const SpaceToday& today, SpaceNow& space) {
  const SpacePicture& picture = today.picture;
  const FreeList list = free_list_of(picture);
  space.holes = list.holes().size();
  space.sum.bank = size_of(picture.bank);
  space.sum.holes = list.free_bytes();
  space.sum.held = *space.sum.bank - list.free_bytes();
  space.sum.largest_hole = list.largest();
  space.sum.figures_from = "picture";
  if (list.free_bytes() > 0) {
    space.scattered =
        1 - static_cast<double>(list.largest()) / static_cast<double>(list.free_bytes());
  }
}

SpaceNow space_now(const ledger::FailureView& nothing, const SpaceToday& today,
                   ledger::TimeNs now) {
  const SpacePicture& picture = today.picture;
  SpaceNow space;
  space.space = picture.space;
  space.sum.banks = picture.banks;
  if (!picture.blocks.empty()) space.lowest_buffer = picture.blocks.front().range.begin;
  Findings holders;
  find_holders(case_of(nothing, picture, nullptr), holders);
  space.holders_left_out = holders.holders_left_out;
  space.holders = std::move(holders.holders);
  if (space.holders.size() > kShownHolders) {
    space.holders_left_out += space.holders.size() - kShownHolders;
    space.holders.resize(kShownHolders);
  }
  if (!is_sound(picture)) return space;
  sum_up(today, space);
  space.growth = growth_of(picture, today.changes, now);
  if (space.growth && space.growth->held_per_second > 0) {
    space.full_after = static_cast<double>(*space.sum.holes) / space.growth->held_per_second;
  }
  return space;
}

// ---- what would fail next ----------------------------------------------------------------------

std::optional<NextClash> next_clash(const SpacePicture& l1, const SpaceNow& space) {
  const auto highest = std::ranges::max_element(l1.programs, {}, &ledger::HeldProgram::end);
  if (highest == l1.programs.end() || highest->end == 0 || !space.lowest_buffer) {
    return std::nullopt;
  }
  NextClash next{
      highest->name, highest->line, highest->core_set, highest->end, *space.lowest_buffer, 0, {}};
  next.headroom =
      static_cast<std::int64_t>(next.lowest_buffer) - static_cast<std::int64_t>(next.region_end);
  if (next.headroom >= 0 && space.growth && space.growth->fall_per_second > 0) {
    next.clash_after = static_cast<double>(next.headroom) / space.growth->fall_per_second;
  }
  return next;
}

// Cut off, as in the tables.
std::uint64_t whole(double number) { return static_cast<std::uint64_t>(std::max(number, 0.0)); }

std::string named(const NextClash& next) {
  const std::string program = next.program.empty() ? "a program" : next.program;
  return next.line.empty() ? program : fmt::format("{} ({})", program, next.line);
}

std::string headline_of(const LiveFindings& findings) {
  const auto& next = findings.next;
  if (next && next->headroom < 0) {
    return fmt::format(
        "The next launch of {} clashes: it needs L1 up to {}, and the lowest buffer lies at {}: "
        "they overlap by {}.",
        named(*next), next->region_end, next->lowest_buffer,
        bytes_text(next->region_end - next->lowest_buffer));
  }
  const SpaceNow* soonest = nullptr;
  for (const SpaceNow& space : findings.spaces) {
    if (!space.full_after || *space.full_after > kSoon) continue;
    if (!soonest || *space.full_after < *soonest->full_after) soonest = &space;
  }
  const double clash = next ? next->clash_after.value_or(kSoon + 1) : kSoon + 1;
  if (clash <= kSoon && (!soonest || clash < *soonest->full_after)) {
    return fmt::format(
        "If it goes on like this, {} clashes in {}: it has {} of headroom, and the lowest "
        "buffer falls by {} per second.",
        named(*next), duration_text_of_seconds(clash),
        bytes_text(static_cast<std::uint64_t>(next->headroom)),
        bytes_text(whole(static_cast<double>(next->headroom) / std::max(clash, 1e-9))));
  }
  if (soonest) {
    return fmt::format(
        "If it goes on like this, {} is full in {}: it grows by {} per second in each bank.",
        space_title(soonest->space), duration_text_of_seconds(*soonest->full_after),
        bytes_text(whole(soonest->growth->held_per_second)));
  }
  std::string text = "Nothing is about to fail, as far as it is known.";
  for (const SpaceNow& space : findings.spaces) {
    if (!space.sum.largest_hole || space.space == Space::kTrace) continue;
    text += fmt::format(" What needs more than {} in each bank of {} does not fit.",
                        bytes_text(*space.sum.largest_hole), space_title(space.space));
  }
  return text;
}

// ---- what to move ------------------------------------------------------------------------------

void name(Cure& cure, const Tensors& tensors) {
  cure.line = tensors.line;
  cure.addresses = tensors.addresses;
}

// The lowest tensors, as far as one line made them.
std::vector<std::uint32_t> lowest_run(const Case& it) {
  std::vector<std::uint32_t> run;
  for (std::uint32_t i = 0; i < it.space->blocks.size(); ++i) {
    const ledger::HeldBlock& block = it.block(i);
    const ledger::HeldOrigin& first = it.space->origins[it.block(0).origin];
    if (!is_tensor(block.kind) || it.space->origins[block.origin] != first) break;
    run.push_back(i);
  }
  return run;
}

// The lowest address after they were moved one by one, the lowest first; empty if one stays where
// it is, or there are too many to do it.
ledger::Figure lowest_after_moving(const Case& it, const std::vector<std::uint32_t>& run,
                                   std::uint64_t rest) {
  if (run.size() > kMostTried) return std::nullopt;
  FreeList list = it.free_list();
  std::uint64_t lowest = rest;
  for (const std::uint32_t i : run) {
    const AddressRange old = it.block(i).range;
    list.release(old);
    const auto moved = list.place(size_of(old));
    if (!moved || moved->begin <= old.begin) return std::nullopt;
    if (!can_move(*it.space, old, *moved, list.lowest_held())) return std::nullopt;
    lowest = std::min(lowest, moved->begin);
  }
  return lowest;
}

// The lowest buffer decides about every program, so it is the first to go.
void add_rise(const Case& it, LiveFindings& findings) {
  const std::vector<std::uint32_t> run = lowest_run(it);
  if (run.empty()) return;
  const SpacePicture& picture = *it.space;
  const std::uint64_t lowest = it.block(0).range.begin;
  const std::uint64_t rest = run.size() < picture.blocks.size()
                                 ? picture.blocks[run.size()].range.begin
                                 : picture.bank.end;
  const Tensors tensors = tensors_of(it, run);
  const auto then = [&](std::uint64_t now) {
    return fmt::format("the lowest buffer then lies at {}, which gives programs {} more", now,
                       bytes_text(now - lowest));
  };
  if (const auto moved = lowest_after_moving(it, run, rest); moved && *moved > lowest) {
    Cure cure;
    cure.kind = CureKind::kReallocate;
    name(cure, tensors);
    cure.call = "t = ttnn.reallocate(t)";
    cure.given = "nothing else refers to the tensor";
    cure.text = fmt::format("Reallocate {}{}: {}.", tensors.text,
                            run.size() == 1 ? "" : ", the lowest first", then(*moved));
    findings.moves.push_back(std::move(cure));
  }
  std::uint64_t bytes = 0;
  for (const std::uint32_t i : run) bytes += size_of(it.block(i).range);
  if (!fits_in_dram(it, bytes * picture.banks) || !can_copy(picture, lowest)) return;
  Cure cure;
  cure.kind = CureKind::kMoveToDram;
  name(cure, tensors);
  cure.frees = bytes;
  cure.call = "t = ttnn.to_memory_config(t, ttnn.DRAM_MEMORY_CONFIG)";
  cure.text = fmt::format("Move {} to DRAM: {}.", tensors.text, then(rest));
  findings.moves.push_back(std::move(cure));
}

// The tensor whose move leaves the largest hole, if that is worth while.
void add_joining(const Case& it, LiveFindings& findings) {
  FreeList list = it.free_list();
  const std::uint64_t before = list.largest();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> candidates;
  for (std::uint32_t i = 0; i < it.space->blocks.size(); ++i) {
    const ledger::HeldBlock& block = it.block(i);
    const std::uint64_t hole = is_tensor(block.kind) ? list.hole_without(block.range) : 0;
    if (hole > before + before / kWorthwhile) candidates.emplace_back(hole, i);
  }
  const std::size_t tried = std::min(candidates.size(), kMostTried);
  std::ranges::partial_sort(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(tried),
                            std::ranges::greater{});
  std::optional<Cure> best;
  for (std::size_t n = 0; n < tried; ++n) {
    const std::uint32_t i = candidates[n].second;
    const AddressRange old = it.block(i).range;
    list.release(old);
    const AddressRange moved = list.place(size_of(old)).value_or(old);
    const std::uint64_t hole = list.largest();
    const bool can = can_move(*it.space, old, moved, list.lowest_held());
    list.release(moved);
    list.take(old);
    if (moved == old || !can || hole <= before + before / kWorthwhile) continue;
    if (best && hole <= *best->hole) continue;
    best.emplace();
    best->kind = CureKind::kReallocate;
    const Tensors tensors = tensors_of(it, {i});
    name(*best, tensors);
    best->hole = hole;
    best->call = "t = ttnn.reallocate(t)";
    best->given = "nothing else refers to the tensor";
    best->text = fmt::format(
        "Reallocate {}: it moves from {} to {}, and the largest hole of {} grows from {} to {}.",
        tensors.text, old.begin, moved.begin, space_title(it.space->space), bytes_text(before),
        bytes_text(hole));
  }
  const bool known = best && std::ranges::any_of(findings.moves, [&](const Cure& move) {
                       return move.kind == best->kind && move.addresses == best->addresses;
                     });
  if (best && !known) findings.moves.push_back(std::move(*best));
}

// A launch that is bound to clash has the cures of a clash.
void add_clash_cures(Case& it, LiveFindings& findings) {
  const NextClash& next = *findings.next;
  it.message.kind = MessageKind::kClash;
  it.message.region_end = next.region_end;
  it.message.lowest_buffer = next.lowest_buffer;
  Findings clash;
  clash.verdict = Verdict::kClash;
  clash.clash.emplace().overlap = next.region_end - next.lowest_buffer;
  cure_clash(it, clash);
  findings.moves = std::move(clash.cures);
}

void say_what_is_unknown(const LiveFindings& findings, bool l1_seen,
                         std::vector<std::string>& unknown) {
  bool growth = false;
  for (const SpaceNow& space : findings.spaces) {
    growth = growth || space.growth;
    if (!space.sum.held) {
      unknown.push_back(fmt::format(
          "How {} is filled is not known: not every block has one address for all banks.",
          space_title(space.space)));
    }
  }
  if (!growth) {
    unknown.emplace_back(
        "Whether it grows is not known: too little was allocated or freed lately to tell.");
  }
  if (l1_seen && !findings.next) {
    unknown.emplace_back("No program in the cache can be held against a buffer in L1.");
  }
  unknown.emplace_back("Programs that were never launched are not known.");
}

}  // namespace

LiveFindings explain_live(const std::vector<SpaceToday>& spaces, ledger::TimeNs now) {
  const ledger::FailureView nothing;
  LiveFindings findings;
  const SpaceToday *l1 = nullptr, *dram = nullptr;
  for (const SpaceToday& today : spaces) {
    findings.spaces.push_back(space_now(nothing, today, now));
    if (today.picture.space == Space::kDram) dram = &today;
    if (today.picture.space != Space::kL1) continue;
    l1 = &today;
    findings.next = next_clash(today.picture, findings.spaces.back());
  }
  findings.headline = headline_of(findings);
  for (const SpaceToday* today : {l1, dram}) {
    if (!today) continue;
    Case it = case_of(nothing, today->picture, dram ? &dram->picture : nullptr);
    if (!it.provable) continue;
    const bool clashes = today == l1 && findings.next && findings.next->headroom < 0;
    if (clashes) add_clash_cures(it, findings);
    if (today == l1 && !clashes) add_rise(it, findings);
    add_joining(it, findings);
  }
  say_what_is_unknown(findings, l1 != nullptr, findings.unknown);
  return findings;
}

}  // namespace ttmem::explain
