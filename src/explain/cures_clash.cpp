// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What helps where a program and buffers want the same bytes of L1: every buffer below the end of
// the program's region has to go.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "explain/case.hpp"
#include "explain/cures.hpp"

namespace ttmem::explain {
namespace {

constexpr std::size_t kMostMoves = 64;

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
    list.release(it.block(i).range);
    const auto moved = list.place(size_of(it.block(i).range));
    if (!moved || moved->begin < end) return std::nullopt;
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

void add_freeing(const Case& it, const std::vector<std::uint32_t>& below, std::uint64_t end,
                 Findings& findings) {
  const std::size_t kept = below.size();
  const std::uint64_t lowest =
      kept < it.space->blocks.size() ? it.space->blocks[kept].range.begin : it.space->bank.end;
  std::uint64_t bytes = 0;
  for (const std::uint32_t i : below) bytes += size_of(it.block(i).range);
  const Tensors tensors = tensors_of(it, below);
  Cure cure;
  cure.kind = CureKind::kDeallocate;
  cure.line = tensors.line;
  cure.addresses = tensors.addresses;
  cure.call = "ttnn.deallocate(t)";
  cure.frees = bytes;
  cure.to_spare = lowest - end;
  cure.text = fmt::format("Deallocate {} before: {}.", tensors.text, room_text(lowest, end));
  findings.cures.push_back(cure);
  if (!fits_in_dram(it, bytes * it.space->banks)) return;
  cure.kind = CureKind::kMoveToDram;
  cure.call = "t = ttnn.to_memory_config(t, ttnn.DRAM_MEMORY_CONFIG)";
  cure.text =
      fmt::format("Or move {} to DRAM, or make {} there: {}.", below.size() == 1 ? "it" : "them",
                  below.size() == 1 ? "it" : "them", room_text(lowest, end));
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
  if (tensors) {
    add_moves(it, below, end, findings);
    add_freeing(it, below, end, findings);
  }
  add_smaller_l1_small(it, *findings.clash->overlap, findings);
  remark_on_lock_step(it, findings);
}

}  // namespace ttmem::explain
