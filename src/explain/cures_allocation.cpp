// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What helps where no hole was large enough: free something, move something, or ask for less.
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "explain/case.hpp"
#include "explain/cures.hpp"

namespace ttmem::explain {
namespace {

using ledger::AddressRange;
using ledger::HeldBlock;
using ledger::HeldKind;
using ledger::Space;

constexpr std::size_t kMostGroups = 64;        // whose freeing is tried
constexpr std::size_t kMostDeallocations = 2;  // that are shown
constexpr std::uint64_t kTile = 2048;          // of bfloat16
constexpr std::uint64_t kTile8 = 1088, kTile4 = 576;
constexpr std::uint64_t kLargestTile = 4096;

// Neighbouring tensors whose freeing makes one hole.
struct Window {
  std::vector<std::uint32_t> blocks;
  std::uint64_t frees = 0, hole = 0;
};

// When the newer one of its ends was made. What an operation reads is mostly new, so of equal
// windows the older one can rather go.
ledger::TimeNs made(const Case& it, std::uint32_t first, std::uint32_t last) {
  return std::max(it.block(first).since, it.block(last).since);
}

// Of these blocks (indices, by address) the neighbouring tensors with the fewest bytes whose
// freeing makes a hole for the request; of equal ones the oldest where an operation may read them,
// else those with the largest hole. If they have none, freeing all of them would not help either.
Window cheapest_window(const Case& it, std::uint64_t need,
                       const std::vector<std::uint32_t>& among) {
  const auto& blocks = it.space->blocks;
  const auto begin_after = [&](std::size_t i) {
    return i + 1 < blocks.size() ? blocks[i + 1].range.begin : it.space->bank.end;
  };
  const auto end_before = [&](std::size_t i) {
    return i == 0 ? it.space->bank.begin : blocks[i - 1].range.end;
  };
  const bool reads = computes(it.failure.operation);
  std::size_t from = 0, best_from = 0, best_to = 0;
  std::uint64_t frees = 0, best = ~std::uint64_t{0}, best_hole = 0;
  for (std::size_t to = 0; to < among.size(); ++to) {
    if (!can_be_freed(it, among[to])) {
      from = to + 1;
      frees = 0;
      continue;
    }
    if (to > from && among[to] != among[to - 1] + 1) {  // another's lies between
      from = to;
      frees = 0;
    }
    frees += size_of(it.block(among[to]).range);
    const auto hole = [&](std::size_t start) {
      return begin_after(among[to]) - end_before(among[start]);
    };
    while (from < to && hole(from + 1) >= need) frees -= size_of(it.block(among[from++]).range);
    if (hole(from) < need || frees > best) continue;
    const bool better =
        reads ? made(it, among[from], among[to]) < made(it, among[best_from], among[best_to])
              : hole(from) > best_hole;
    if (frees < best || better) {
      best = frees;
      best_hole = hole(from);
      best_from = from;
      best_to = to;
    }
  }
  Window window;
  if (best == ~std::uint64_t{0}) return window;
  for (std::size_t i = best_from; i <= best_to; ++i) window.blocks.push_back(among[i]);
  window.frees = best;
  window.hole = best_hole;
  return window;
}

std::vector<Window> windows(const Case& it, std::uint64_t need) {
  std::vector<Window> found;
  const auto keep = [&](Window window) {
    if (window.blocks.empty()) return;
    const bool known = std::ranges::any_of(
        found, [&](const Window& other) { return other.blocks == window.blocks; });
    if (!known) found.push_back(std::move(window));
  };
  std::vector<std::uint32_t> all(it.space->blocks.size());
  std::iota(all.begin(), all.end(), 0);
  keep(cheapest_window(it, need, all));
  std::size_t tried = 0;
  for (const HeldGroup& group : it.groups) {
    if (!is_tensor(group.kind) || ++tried > kMostGroups) continue;
    keep(cheapest_window(it, need, group.blocks));
  }
  const bool reads = computes(it.failure.operation);
  std::ranges::stable_sort(found, {}, [&](const Window& window) {
    return std::pair(window.frees,
                     reads ? made(it, window.blocks.front(), window.blocks.back()) : 0);
  });
  if (found.size() > kMostDeallocations) found.resize(kMostDeallocations);
  return found;
}

Cure fitting(CureKind kind, std::uint64_t need, std::uint64_t hole) {
  Cure cure;
  cure.kind = kind;
  cure.hole = hole;
  cure.to_spare = hole - need;
  return cure;
}

std::string then_text(const Cure& cure) {
  return fmt::format("then {} are free in one block, and it fits with {} to spare",
                     bytes_text(*cure.hole), bytes_text(*cure.to_spare));
}

void add_deallocations(const Case& it, std::uint64_t need, Findings& findings) {
  for (const Window& window : windows(it, need)) {
    Cure cure = fitting(CureKind::kDeallocate, need, window.hole);
    const Tensors tensors = tensors_of(it, window.blocks);
    cure.frees = window.frees;
    cure.line = tensors.line;
    cure.addresses = tensors.addresses;
    cure.call = "ttnn.deallocate(t)";
    cure.given = if_not_read(it, tensors.blocks);
    cure.text = fmt::format("Deallocate {}: {}.", tensors.text, then_text(cure));
    findings.cures.push_back(cure);
    if (it.space->space != Space::kL1 || !fits_in_dram(it, window.frees * it.space->banks))
      continue;
    say_to_dram(it, tensors.blocks, cure);
    findings.cures.push_back(cure);
  }
}

// Moving one tensor to where the runtime would put it now.
void add_reallocation(const Case& it, std::uint64_t need, Findings& findings) {
  FreeList list = it.free_list();
  const std::size_t holes = std::max<std::size_t>(list.holes().size(), 1);
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t i = 0; i < it.space->blocks.size(); ++i) {
    const HeldBlock& block = it.block(i);
    if (can_be_freed(it, i) && list.hole_without(block.range) >= need) candidates.push_back(i);
  }
  const std::size_t tried =
      std::min(candidates.size(), std::clamp<std::size_t>(2'000'000 / holes, 8, 256));
  std::ranges::partial_sort(
      candidates, candidates.begin() + static_cast<std::ptrdiff_t>(tried), {},
      [&](std::uint32_t i) { return std::pair(size_of(it.block(i).range), i); });
  candidates.resize(tried);
  for (const std::uint32_t i : candidates) {
    const AddressRange old = it.block(i).range;
    list.release(old);
    const AddressRange moved = list.place(size_of(old)).value_or(old);
    const bool fits = moved != old && list.find(need).has_value() &&
                      can_move(*it.space, old, moved, list.lowest_held());
    const std::uint64_t hole = fits ? list.largest() : 0;
    list.release(moved);
    list.take(old);
    if (!fits) continue;
    Cure cure = fitting(CureKind::kReallocate, need, hole);
    const Tensors tensors = tensors_of(it, {i});
    cure.line = tensors.line;
    cure.addresses = tensors.addresses;
    cure.call = "t = ttnn.reallocate(t)";
    cure.given = "nothing else refers to the tensor";
    cure.text = fmt::format("Reallocate {}: it moves from {} to {}; {}.", tensors.text, old.begin,
                            moved.begin, then_text(cure));
    findings.cures.push_back(std::move(cure));
    return;
  }
}

void add_cache_clearing(const Case& it, std::uint64_t need, Findings& findings) {
  std::vector<std::uint32_t> cached;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < it.space->blocks.size(); ++i) {
    const HeldKind kind = it.block(i).kind;
    if (kind != HeldKind::kKernelBinaries && kind != HeldKind::kProgramCache) continue;
    cached.push_back(i);
    bytes += size_of(it.block(i).range);
  }
  if (cached.empty()) return;
  const std::uint64_t hole = size_of(largest_hole(*it.space, cached));
  if (hole < need) return;
  Cure cure = fitting(CureKind::kClearProgramCache, need, hole);
  cure.frees = bytes;
  cure.call = "device.clear_program_cache()";
  cure.text = fmt::format("Keep fewer cached programs ({} hold {} in each bank): {}.",
                          cached.size(), bytes_text(bytes), then_text(cure));
  findings.cures.push_back(std::move(cure));
}

// ---- asking for less ---------------------------------------------------------------------------

// What an operation makes on the way to its result is not asked for by its arguments.
std::string if_result(const Case& it, const std::string& given) {
  if (!computes(it.failure.operation)) return given;
  const std::string own = fmt::format("it is the result of {} itself", it.failure.operation);
  return given.empty() ? own : own + ", and " + given;
}

void add_data_type(const Case& it, std::uint64_t need, std::uint64_t hole, Findings& findings) {
  if (need % kTile != 0) return;
  struct Type {
    const char* name;
    std::uint64_t tile, bits;
  };
  for (const Type& type : {Type{"bfloat8_b", kTile8, 8}, Type{"bfloat4_b", kTile4, 4}}) {
    const std::uint64_t less = round_up(need / kTile * type.tile, it.space->alignment);
    if (less > hole) continue;
    Cure cure = fitting(CureKind::kDataType, less, hole);
    cure.given = if_result(it, "it is bfloat16 in tiles");
    cure.value = type.bits;
    cure.call = fmt::format("dtype=ttnn.{}", type.name);
    cure.text = fmt::format(
        "Ask for {} instead of bfloat16: {} in each bank instead of {} fit into "
        "the largest hole with {} to spare.",
        type.name, bytes_text(less), bytes_text(need), bytes_text(*cure.to_spare));
    findings.cures.push_back(std::move(cure));
    return;
  }
}

void add_wider_spread(const Case& it, std::uint64_t hole, Findings& findings) {
  const std::uint64_t requested = it.message.requested.value_or(0), banks = it.space->banks;
  if (requested == 0 || banks == 0 || it.message.banks.value_or(banks) >= banks) return;
  const std::uint64_t less =
      round_up((requested + banks - 1) / banks + kLargestTile, it.space->alignment);
  if (less > hole) return;
  Cure cure = fitting(CureKind::kInterleave, less, hole);
  cure.given = if_result(it, "it is in tiles, and what uses it takes interleaved tensors");
  cure.call = it.space->space == Space::kL1 ? "memory_config=ttnn.L1_MEMORY_CONFIG"
                                            : "memory_config=ttnn.DRAM_MEMORY_CONFIG";
  cure.text = fmt::format(
      "Spread it over all {} banks instead of {}: at most {} in each, which fit "
      "into the largest hole with {} to spare.",
      banks, *it.message.banks, bytes_text(less), bytes_text(*cure.to_spare));
  findings.cures.push_back(std::move(cure));
}

// The same tensor in smaller shards on more cores.
void add_smaller_shards(const Case& it, std::uint64_t need, std::uint64_t hole,
                        Findings& findings) {
  const std::uint64_t shards = it.message.banks.value_or(0), banks = it.space->banks;
  const std::uint64_t unit = std::max<std::uint64_t>(it.space->alignment, 1);
  if (shards == 0) return;
  for (std::uint64_t parts = 2; parts <= banks / shards; ++parts) {
    const std::uint64_t less = need / parts;
    if (need % (parts * unit) != 0 || less > hole) continue;
    Cure cure = fitting(CureKind::kShard, less, hole);
    cure.value = parts;
    cure.given = if_result(it, fmt::format("a shard can be cut into {} equal parts", parts));
    cure.call = "memory_config=ttnn.MemoryConfig(…, ttnn.ShardSpec(…))";
    cure.text = fmt::format(
        "Cut each of the {} shards into {}, on {} cores: {} in each, which fit into the largest "
        "hole with {} to spare.",
        shards, parts, shards * parts, bytes_text(less), bytes_text(*cure.to_spare));
    findings.cures.push_back(std::move(cure));
    return;
  }
}

void add_request_in_dram(const Case& it, Findings& findings) {
  const std::uint64_t requested =
      it.message.requested.value_or(it.failure.requested.value_or(std::uint64_t{0}));
  if (requested == 0 || it.space->space != Space::kL1 || !fits_in_dram(it, requested)) return;
  Cure cure;
  cure.kind = CureKind::kRequestInDram;
  cure.given = if_result(it, "");
  cure.call = "memory_config=ttnn.DRAM_MEMORY_CONFIG";
  cure.hole = free_list_of(*it.dram).largest();
  cure.text = fmt::format("Make it in DRAM: {} are free there in one block of each of {} banks.",
                          bytes_text(*cure.hole), it.dram->banks);
  findings.cures.push_back(std::move(cure));
}

// A loop that makes one such tensor after the other: freeing one helps only once.
void remark_on_siblings(const Case& it, std::uint64_t need, Findings& findings) {
  for (const HeldGroup& group : it.groups) {
    const ledger::HeldOrigin& origin = it.origin(group);
    if (origin.line != it.failure.line || origin.operation != it.failure.operation) continue;
    const auto alike = std::ranges::count_if(
        group.blocks, [&](std::uint32_t i) { return size_of(it.block(i).range) == need; });
    if (origin.line.empty() || alike < 2) continue;
    findings.remarks.push_back(fmt::format(
        "The line that failed has made {} such tensors that are held. What makes room for one more "
        "does so once.",
        alike));
  }
}

}  // namespace

void cure_allocation(const Case& it, Findings& findings) {
  const Verdict verdict = findings.verdict;
  if (verdict != Verdict::kTooLarge && verdict != Verdict::kFull && verdict != Verdict::kScattered)
    return;
  const std::uint64_t need = needed_block(it);
  if (need == 0 || !it.provable) return;
  if (verdict == Verdict::kScattered) add_reallocation(it, need, findings);
  if (verdict != Verdict::kTooLarge) {
    add_deallocations(it, need, findings);
    add_cache_clearing(it, need, findings);
  }
  const std::uint64_t hole = size_of(largest_hole(*it.space));
  add_data_type(it, need, hole, findings);
  add_smaller_shards(it, need, hole, findings);
  add_wider_spread(it, hole, findings);
  add_request_in_dram(it, findings);
  if (verdict != Verdict::kTooLarge) remark_on_siblings(it, need, findings);
}

}  // namespace ttmem::explain
