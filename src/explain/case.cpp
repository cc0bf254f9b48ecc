// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/case.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace ttmem::explain {

using ledger::AddressRange;
using ledger::HeldBlock;
using ledger::SpacePicture;

namespace {
constexpr std::uint64_t kMostBytes = 1ull << 60;  // more is nobody's memory
}

std::vector<AddressRange> ranges_of(const SpacePicture& picture) {
  std::vector<AddressRange> ranges;
  ranges.reserve(picture.blocks.size());
  for (const HeldBlock& block : picture.blocks) ranges.push_back(block.range);
  return ranges;
}

FreeList free_list_of(const SpacePicture& picture) {
  return {picture.space, picture.bank, ranges_of(picture)};
}

AddressRange largest_hole(const SpacePicture& picture, const std::vector<std::uint32_t>& freed) {
  AddressRange largest{picture.bank.begin, picture.bank.begin};
  std::uint64_t at = picture.bank.begin;
  const auto look_at_hole = [&](std::uint64_t end) {
    if (end > at && end - at > size_of(largest)) largest = {at, end};
  };
  auto skipped = freed.begin();
  for (std::uint32_t i = 0; i < picture.blocks.size(); ++i) {
    if (skipped != freed.end() && *skipped == i) {
      ++skipped;
      continue;
    }
    const AddressRange& range = picture.blocks[i].range;
    look_at_hole(std::min(range.begin, picture.bank.end));
    at = std::max(at, range.end);
  }
  look_at_hole(picture.bank.end);
  return largest;
}

bool is_sound(const SpacePicture& picture) {
  if (!picture.complete || picture.per_core) return false;
  std::uint64_t at = picture.bank.begin;
  for (const HeldBlock& block : picture.blocks) {
    if (block.range.begin < at || block.range.end <= block.range.begin) return false;
    at = block.range.end;
  }
  return at <= picture.bank.end;
}

// An operation makes its result before its program is launched, and may make tensors on the way to
// it: they are the newest, and of its line. What the same line made in the round before is of its
// line too, but has the size of the result.
std::vector<std::uint32_t> own_blocks(const Case& it) {
  const bool clash = it.message.kind == MessageKind::kClash;
  if (!it.space || it.failure.operation.empty()) return {};
  if (!clash && !computes(it.failure.operation)) return {};
  std::vector<bool> made_here;
  for (const ledger::HeldOrigin& origin : it.space->origins) {
    made_here.push_back(origin.operation == it.failure.operation && origin.line == it.failure.line);
  }
  ledger::TimeNs others = 0;
  std::vector<std::uint32_t> own;
  for (std::uint32_t i = 0; i < it.space->blocks.size(); ++i) {
    const HeldBlock& block = it.block(i);
    if (!is_tensor(block.kind)) continue;
    if (made_here[block.origin])
      own.push_back(i);
    else
      others = std::max(others, block.since);
  }
  std::erase_if(own, [&](std::uint32_t i) { return it.block(i).since < others; });
  std::ranges::sort(own, std::ranges::greater{},
                    [&](std::uint32_t i) { return std::pair(it.block(i).since, i); });
  const auto size = [&](std::uint32_t i) { return size_of(it.block(i).range); };
  const std::uint64_t result = clash && !own.empty() ? size(own.front()) : needed_block(it);
  const auto begin = own.begin() + (clash && !own.empty() ? 1 : 0);
  own.erase(std::find_if(begin, own.end(), [&](std::uint32_t i) { return size(i) == result; }),
            own.end());
  std::ranges::sort(own);
  return own;
}

bool can_be_freed(const Case& it, std::uint32_t block) {
  return is_tensor(it.block(block).kind) && !std::ranges::binary_search(it.own, block);
}

const ledger::HeldProgram* failed_program(const Case& it) {
  if (!it.space || !it.failure.program) return nullptr;
  const auto found =
      std::ranges::find(it.space->programs, *it.failure.program, &ledger::HeldProgram::id);
  return found == it.space->programs.end() ? nullptr : &*found;
}

FreeList Case::free_list() const { return free_list_of(*space); }

std::vector<HeldGroup> groups_of(const SpacePicture& picture) {
  // Origins that read alike are one line to people, whatever led to it.
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, std::uint32_t> alike;
  std::vector<std::uint32_t> first_of;
  for (std::uint32_t i = 0; i < picture.origins.size(); ++i) {
    const ledger::HeldOrigin& origin = picture.origins[i];
    first_of.push_back(
        alike.try_emplace(Key(origin.operation, origin.line, origin.region), i).first->second);
  }
  std::map<std::pair<std::uint32_t, ledger::HeldKind>, HeldGroup> groups;
  for (std::uint32_t i = 0; i < picture.blocks.size(); ++i) {
    const HeldBlock& block = picture.blocks[i];
    const std::uint32_t origin = first_of[block.origin];
    HeldGroup& group = groups[{origin, block.kind}];
    group.origin = origin;
    group.kind = block.kind;
    group.bytes += block.range.end - block.range.begin;
    group.blocks.push_back(i);
  }
  std::vector<HeldGroup> sorted;
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &HeldGroup::bytes);
  return sorted;
}

std::string bytes_text(std::uint64_t bytes) {
  std::string digits = std::to_string(bytes);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits + " B";
}

std::string tensors_text(const ledger::HeldOrigin& origin, std::size_t count) {
  const std::string what = count == 1 ? "the tensor" : fmt::format("the {} tensors", count);
  if (origin.line.empty()) {
    return origin.operation.empty() ? what + " of an unknown line"
                                    : fmt::format("{} of {}", what, origin.operation);
  }
  if (origin.operation.empty()) return fmt::format("{} made at {}", what, origin.line);
  return fmt::format("{} made at {} by {}", what, origin.line, origin.operation);
}

bool computes(std::string_view operation) {
  constexpr std::array<std::string_view, 8> kMakers = {
      "empty", "zeros", "ones", "full", "arange", "from_torch", "as_tensor", "to_device"};
  return !operation.empty() && std::ranges::none_of(kMakers, [&](std::string_view maker) {
    return operation.find(maker) != std::string_view::npos;
  });
}

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) {
  if (to == 0 || bytes > kMostBytes) return bytes;
  return (bytes + to - 1) / to * to;
}

std::uint64_t needed_block(const Case& it) {
  const std::uint64_t per_bank =
      it.message.per_bank.value_or(it.failure.per_bank.value_or(std::uint64_t{0}));
  const std::uint64_t alignment = it.space ? it.space->alignment : 0;
  return std::max(round_up(per_bank, alignment), it.failure.per_bank.value_or(std::uint64_t{0}));
}

}  // namespace ttmem::explain
