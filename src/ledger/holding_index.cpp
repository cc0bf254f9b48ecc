// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/holding_index.hpp"

#include <algorithm>

namespace ttmem::ledger {

std::optional<HoldingIndex::Class> HoldingIndex::class_of(const Record& record) {
  if (const auto* buffer = std::get_if<BufferRecord>(&record)) {
    const AllocatorIndex allocator = buffer->set == 0 ? buffer->allocator : AllocatorIndex{0};
    return Class{Kind::kBuffer, buffer->space, allocator, buffer->set};
  }
  if (const auto* program = std::get_if<ProgramRecord>(&record)) {
    return Class{.kind = Kind::kProgram, .set = program->set};
  }
  if (const auto* trace = std::get_if<TraceRecord>(&record)) {
    return Class{.kind = Kind::kTrace, .set = trace->set};
  }
  return std::nullopt;
}

std::size_t HoldingIndex::ClassHash::operator()(const Class& of) const {
  const std::uint64_t all = std::uint64_t{of.set} << 32 | std::uint64_t{of.allocator} << 16 |
                            std::uint64_t{static_cast<std::uint8_t>(of.space)} << 8 |
                            static_cast<std::uint8_t>(of.kind);
  return std::hash<std::uint64_t>()(all * 0x9E3779B97F4A7C15u);
}

void HoldingIndex::count(SlotIndex slot, const Record& record, bool up) {
  const std::optional<Class> of = class_of(record);
  if (!of) return;
  const std::size_t number = slot / kBlockSlots;
  if (number >= blocks_.size()) blocks_.resize(number + 1);
  Block& block = blocks_[number];
  std::uint64_t& all = all_[*of];
  auto found = std::ranges::find(block, *of, &Count::of);
  if (found == block.end()) {
    if (!up) return;  // there was no memory to count it
    found = block.insert(found, {*of, 0});
  }
  all += up ? 1 : ~std::uint64_t{0};
  found->slots += up ? 1 : ~std::uint32_t{0};
  if (found->slots > 0) return;
  *found = block.back();
  block.pop_back();
  if (all == 0) all_.erase(*of);
}

void HoldingIndex::visit(SlotIndex from, const std::function<bool(const Class&)>& wanted,
                         const std::function<bool(SlotIndex)>& visit) const {
  for (std::size_t block = from / kBlockSlots; block < blocks_.size(); ++block) {
    const auto is_wanted = [&](const Count& count) { return wanted(count.of); };
    if (std::ranges::none_of(blocks_[block], is_wanted)) continue;
    const auto begin = static_cast<SlotIndex>(block * kBlockSlots);
    for (SlotIndex slot = std::max(begin, from); slot < begin + kBlockSlots; ++slot) {
      if (!visit(slot)) return;
    }
  }
}

}  // namespace ttmem::ledger
