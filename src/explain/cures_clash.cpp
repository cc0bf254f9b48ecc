// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What helps where a program and buffers want the same bytes of L1: every buffer below the end of
// the program's region has to go.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "explain/case.hpp"
#include "explain/cures.hpp"

namespace ttmem::explain {
namespace {

constexpr std::size_t kMostMoves = 64;
constexpr std::uint32_t kMostAbove = 16;        // blocks that are freed beyond those that must go
constexpr std::size_t kMostTried = 4;           // lines whose tensors are freed for a result
constexpr std::size_t kMostSearched = 100'000;  // blocks, each time anew

std::string room_text(std::uint64_t lowest, std::uint64_t end) {
  return fmt::format("then the lowest buffer lies at {}, {} above the program", lowest,
                     bytes_text(lowest - end));
}

// Moves them one by one, the lowest first. The lowest address afterwards; empty if one stays below.
ledger::Figure lowest_after_moving(const Case& it, const std::vector<std::uint32_t>& blocks,
                                   std::uint64_t end) {
  FreeList list = it.free_list();
  std::uint64_t lowest = it.space->bank.end;
  const auto first_kept = static_cast<std::uint32_t>(blocks.size());
  if (first_kept < it.space->blocks.size()) lowest = it.block(first_kept).range.begin;
  for (const std::uint32_t i : blocks) {
    const ledger::AddressRange old = it.block(i).range;
    list.release(old);
    const auto moved = list.place(size_of(old));
    if (!moved || moved->begin < end) return std::nullopt;
    if (!can_move(*it.space, old, *moved, list.lowest_held())) return std::nullopt;
    lowest = std::min(lowest, moved->begin);
  }
  return lowest;
}

void add_moves(const Case& it, const std::vector<std::uint32_t>& below, std::uint64_t end,
               Findings& findings) {
  if (below.size() > kMostMoves) return;
  const auto lowest = lowest_after_moving(it, below, end);
  if (!lowest) return;
  const Tensors tensors = tensors_of(it, below);
  Cure cure;
  cure.kind = CureKind::kReallocate;
  cure.line = tensors.line;
  cure.addresses = tensors.addresses;
  cure.call = "t = ttnn.reallocate(t)";
  cure.given = "nothing else refers to the tensor";
  cure.to_spare = *lowest - end;
  cure.text = fmt::format("Reallocate {}{}: {} into a hole above; {}.", tensors.text,
                          below.size() == 1 ? "" : ", the lowest first",
                          below.size() == 1 ? "it moves" : "they move", room_text(*lowest, end));
  findings.cures.push_back(std::move(cure));
}

std::uint64_t bytes_of(const Case& it, const std::vector<std::uint32_t>& blocks) {
  std::uint64_t bytes = 0;
  for (const std::uint32_t i : blocks) bytes += size_of(it.block(i).range);
  return bytes;
}

// Of these tensors, by freeing them or having them in DRAM; `then` says what it gives.
void add_freeing(const Case& it, const std::vector<std::uint32_t>& freed, std::uint64_t to_spare,
                 const std::string& then, Findings& findings) {
  const Tensors tensors = tensors_of(it, freed);
  Cure cure;
  cure.kind = CureKind::kDeallocate;
  cure.line = tensors.line;
  cure.addresses = tensors.addresses;
  cure.call = "ttnn.deallocate(t)";
  cure.given = if_not_read(it, freed.size());
  cure.frees = bytes_of(it, freed);
  cure.to_spare = to_spare;
  cure.text = fmt::format("Deallocate {} before: {}.", tensors.text, then);
  findings.cures.push_back(cure);
  if (!fits_in_dram(it, *cure.frees * it.space->banks)) return;
  say_to_dram(it, freed.size(), cure);
  findings.cures.push_back(std::move(cure));
}

// Where the lowest buffer lies without the lowest ones.
std::uint64_t lowest_without(const Case& it, const std::vector<std::uint32_t>& below) {
  return below.size() < it.space->blocks.size() ? it.space->blocks[below.size()].range.begin
                                                : it.space->bank.end;
}

// ---- the result of the operation itself ---------------------------------------------------------

// Where the result would be, and the lowest buffer, if these blocks had been freed before.
struct Replaced {
  std::uint64_t result = 0, lowest = 0;
};
Replaced replaced(const Case& it, const std::vector<std::uint32_t>& freed) {
  FreeList list = it.free_list();
  for (const std::uint32_t i : freed) list.release(it.block(i).range);
  for (const std::uint32_t i : it.own) list.release(it.block(i).range);
  std::vector<std::uint32_t> in_time = it.own;
  std::ranges::stable_sort(in_time, {}, [&](std::uint32_t i) { return it.block(i).since; });
  std::optional<ledger::AddressRange> place;
  for (const std::uint32_t i : in_time) place = list.place(size_of(it.block(i).range));
  return {place ? place->begin : 0, list.lowest_held()};
}

// What must go, alone, with those above it, or with all tensors of one line: the fewest bytes that
// make room.
std::vector<std::uint32_t> cheapest_before(const Case& it,
                                           const std::vector<std::uint32_t>& must_go,
                                           std::uint32_t above, std::uint64_t end) {
  std::vector<std::uint32_t> best;
  const auto consider = [&](std::vector<std::uint32_t> freed) {
    if (freed.empty() || replaced(it, freed).lowest < end) return;
    if (best.empty() || bytes_of(it, freed) < bytes_of(it, best)) best = std::move(freed);
  };
  consider(must_go);
  if (it.space->blocks.size() > kMostSearched) return best;
  std::vector<std::uint32_t> more = must_go;
  for (std::uint32_t i = above; i < it.space->blocks.size() && i < above + kMostAbove; ++i) {
    if (!best.empty() || !can_be_freed(it, i)) break;
    more.push_back(i);
    consider(more);
  }
  std::size_t tried = 0;
  for (const HeldGroup& group : it.groups) {
    if (!is_tensor(group.kind) || ++tried > kMostTried) continue;
    std::vector<std::uint32_t> freed;
    std::ranges::set_union(must_go, group.blocks, std::back_inserter(freed));
    std::erase_if(freed, [&](std::uint32_t i) { return !can_be_freed(it, i); });
    consider(std::move(freed));
  }
  return best;
}

void add_freeing_for_result(const Case& it, const std::vector<std::uint32_t>& must_go,
                            std::uint32_t above, std::uint64_t end, Findings& findings) {
  const std::vector<std::uint32_t> freed = cheapest_before(it, must_go, above, end);
  if (freed.empty()) return;
  const Replaced now = replaced(it, freed);
  const std::string then =
      fmt::format("then its result goes to {}, and the lowest buffer lies {} above the program",
                  now.result, bytes_text(now.lowest - end));
  add_freeing(it, freed, now.lowest - end, then, findings);
}

void remark_on_own(const Case& it, Findings& findings) {
  if (it.own.size() == 1) {
    findings.remarks.push_back(fmt::format(
        "The buffer at {} is the newest, made at the line that failed: it is taken for the result "
        "of {}, which cannot be freed before.",
        it.block(it.own.front()).range.begin, it.failure.operation));
    return;
  }
  findings.remarks.push_back(fmt::format(
      "The newest {} buffers, the lowest at {}, were made at the line that failed: they are taken "
      "for what {} makes itself, which cannot be freed before.",
      it.own.size(), it.block(it.own.front()).range.begin, it.failure.operation));
}

void cure_own_result(const Case& it, std::vector<std::uint32_t> below, std::uint64_t end,
                     Findings& findings) {
  const std::uint64_t lowest = lowest_without(it, below);
  const auto above = static_cast<std::uint32_t>(below.size());
  std::erase_if(below, [&](std::uint32_t i) { return !can_be_freed(it, i); });
  add_freeing_for_result(it, below, above, end, findings);
  remark_on_own(it, findings);
  const ledger::HeldBlock& result = it.block(it.own.front());
  const bool interleaved = result.layout == ledger::Layout::kInterleaved;
  if (it.own.size() > 1 || !below.empty() || !interleaved ||
      !fits_in_dram(it, size_of(result.range) * it.space->banks)) {
    return;
  }
  Cure cure;
  cure.kind = CureKind::kRequestInDram;
  cure.call = "memory_config=ttnn.DRAM_MEMORY_CONFIG";
  cure.to_spare = lowest - end;
  cure.text = fmt::format("Have the result of {} in DRAM: {}.", it.failure.operation,
                          room_text(lowest, end));
  findings.cures.push_back(std::move(cure));
}

// A smaller region at the top lets every buffer move up by the difference.
void add_smaller_l1_small(const Case& it, std::uint64_t overlap, Findings& findings) {
  const auto& region = it.space->l1_small;
  if (!region || !it.space->l1_small_held) return;
  const std::uint64_t unit = std::max<std::uint64_t>(it.space->alignment, 32);
  const std::uint64_t size = region->end - region->begin, less = round_up(overlap, unit);
  if (less > size || size - less < round_up(*it.space->l1_small_held, unit)) return;
  Cure cure;
  cure.kind = CureKind::kL1SmallSize;
  cure.value = size - less;
  cure.to_spare = less - overlap;
  cure.call = fmt::format("ttnn.open_device(..., l1_small_size={})", *cure.value);
  cure.text = fmt::format(
      "Open the device with l1_small_size={} instead of {}, of which {} are held: "
      "every L1 buffer then lies {} higher.",
      *cure.value, size, bytes_text(*it.space->l1_small_held), bytes_text(less));
  cure.given = "later operations need no more of L1_SMALL";
  findings.cures.push_back(std::move(cure));
}

void remark_on_lock_step(const Case& it, Findings& findings) {
  const ledger::HeldBlock& lowest = it.space->blocks.front();
  if (lowest.cores == 0 || lowest.cores >= it.space->banks) return;
  findings.remarks.push_back(fmt::format(
      "The lowest buffer has data on {} of {} cores only: buffers have one address on every core, "
      "so it limits programs on all of them.",
      lowest.cores, it.space->banks));
}

}  // namespace

void cure_clash(const Case& it, Findings& findings) {
  if (findings.verdict != Verdict::kClash || !it.provable || it.space->blocks.empty()) return;
  const std::uint64_t end = *it.message.region_end;
  if (end > it.space->bank.end) return;
  std::vector<std::uint32_t> below;
  bool tensors = true;
  for (std::uint32_t i = 0; i < it.space->blocks.size() && it.block(i).range.begin < end; ++i) {
    below.push_back(i);
    tensors = tensors && is_tensor(it.block(i).kind);
  }
  if (below.empty()) return;
  const auto is_below = [&](std::uint32_t i) { return std::ranges::binary_search(below, i); };
  if (tensors && std::ranges::any_of(it.own, is_below)) {
    cure_own_result(it, below, end, findings);
  } else if (tensors) {
    add_moves(it, below, end, findings);
    const std::uint64_t lowest = lowest_without(it, below);
    add_freeing(it, below, lowest - end, room_text(lowest, end), findings);
  }
  add_smaller_l1_small(it, *findings.clash->overlap, findings);
  remark_on_lock_step(it, findings);
}

}  // namespace ttmem::explain
