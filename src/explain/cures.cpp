// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/cures.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace ttmem::explain {
namespace {

constexpr std::size_t kMostAddresses = 64;
constexpr std::size_t kMostLines = 3;      // that one sentence names
constexpr std::uint64_t kCopyRoom = 8192;  // two tiles of float32

// Where it is not known where programs begin, nothing is said against it.
bool has_room(const ledger::SpacePicture& space, std::uint64_t lowest, std::uint64_t bytes) {
  if (space.space != ledger::Space::kL1 || !space.unreserved_base) return true;
  return lowest >= *space.unreserved_base && lowest - *space.unreserved_base >= bytes;
}

std::size_t group_of(const Case& it, std::uint32_t block) {
  for (std::size_t i = 0; i < it.groups.size(); ++i) {
    if (std::ranges::binary_search(it.groups[i].blocks, block)) return i;
  }
  return 0;
}

std::string part_text(const Case& it, const HeldGroup& group, std::size_t count,
                      std::uint32_t first) {
  std::string all = tensors_text(it.origin(group), group.blocks.size());
  if (count == group.blocks.size()) return all;
  return fmt::format("{} of {} ({} at address {})", count, all,
                     count == 1 ? "the one" : "the lowest", it.block(first).range.begin);
}

}  // namespace

Tensors tensors_of(const Case& it, const std::vector<std::uint32_t>& blocks) {
  Tensors tensors;
  tensors.blocks = blocks.size();
  std::vector<std::size_t> groups;  // in the order of addresses, each once
  std::vector<std::size_t> counts;
  std::vector<std::uint32_t> firsts;
  for (const std::uint32_t block : blocks) {
    if (tensors.addresses.size() < kMostAddresses) {
      tensors.addresses.push_back(it.block(block).range.begin);
    }
    const std::size_t group = group_of(it, block);
    const auto found = std::ranges::find(groups, group);
    if (found != groups.end()) {
      ++counts[static_cast<std::size_t>(found - groups.begin())];
      continue;
    }
    groups.push_back(group);
    counts.push_back(1);
    firsts.push_back(block);
  }
  if (!groups.empty()) tensors.line = it.origin(it.groups[groups.front()]).line;
  for (std::size_t i = 0; i < groups.size() && i < kMostLines; ++i) {
    if (i > 0) tensors.text += i + 1 == groups.size() ? " and " : ", ";
    tensors.text += part_text(it, it.groups[groups[i]], counts[i], firsts[i]);
  }
  if (groups.size() > kMostLines) {
    tensors.text += fmt::format(" and those of {} more lines", groups.size() - kMostLines);
  }
  return tensors;
}

bool fits_in_dram(const Case& it, std::uint64_t bytes) {
  if (!it.dram || !it.dram->complete || it.dram->per_core || it.dram->banks == 0) return false;
  if (bytes > ~std::uint64_t{0} / 4) return false;
  const std::uint64_t block = round_up(2 * bytes / it.dram->banks + 1, it.dram->alignment);
  return free_list_of(*it.dram).find(block).has_value();
}

std::string if_not_read(const Case& it, std::size_t tensors) {
  if (!computes(it.failure.operation)) return "";
  return fmt::format("{} does not read {}", it.failure.operation, tensors == 1 ? "it" : "them");
}

void say_to_dram(const Case& it, std::size_t tensors, Cure& cure) {
  const char* what = tensors == 1 ? "it" : "them";
  cure.kind = CureKind::kMoveToDram;
  cure.given.clear();
  if (can_copy(*it.space, it.block(0).range.begin)) {
    cure.call = "t = ttnn.to_memory_config(t, ttnn.DRAM_MEMORY_CONFIG)";
    cure.text = fmt::format("Or move {0} to DRAM, or make {0} there: it gives the same.", what);
  } else {
    cure.call = "memory_config=ttnn.DRAM_MEMORY_CONFIG";
    cure.text = fmt::format("Or make {} in DRAM: it gives the same.", what);
  }
}

bool can_copy(const ledger::SpacePicture& from, std::uint64_t lowest) {
  return has_room(from, lowest, kCopyRoom);
}

bool can_move(const ledger::SpacePicture& space, const ledger::AddressRange& old,
              const ledger::AddressRange& moved, std::uint64_t lowest) {
  const bool overlap = old.begin < moved.end && moved.begin < old.end;
  return has_room(space, lowest, overlap ? std::max(size_of(old), kCopyRoom) : kCopyRoom);
}

}  // namespace ttmem::explain
