// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/clashes.hpp"

#include <set>

#include "ledger/holding_names.hpp"

namespace ttmem::ledger {

void Clashes::find_lowest_buffers() {
  std::set<std::uint64_t> floors;
  for (const L1Frame& frame : books_.frames.of(device_)) {
    if (frame.floor) floors.insert(*frame.floor);
  }
  lowest_.emplace();
  books_.slots.for_each([&](SlotIndex, const Record& record) {
    const auto* buffer = std::get_if<BufferRecord>(&record);
    if (!buffer || buffer->space != Space::kL1) return;
    books_.buffers.for_each_range(device_, *buffer,
                                  [&](const std::optional<Core>& core, AddressRange range) {
                                    if (floors.contains(range.begin))
                                      lowest_->try_emplace({range.begin, core}, buffer);
                                  });
  });
}

// A list a core may give one address to many buffers; in lock step, one on any core limits all.
const BufferRecord* Clashes::lowest_buffer(const L1Frame& frame) const {
  if (!frame.floor) return nullptr;
  const auto own = lowest_->find({*frame.floor, frame.core.core});
  if (own != lowest_->end()) return own->second;
  const auto any = lowest_->lower_bound({*frame.floor, std::nullopt});
  return any != lowest_->end() && any->first.first == *frame.floor ? any->second : nullptr;
}

Clash Clashes::at(const L1Frame& frame, const Standing& standing) {
  if (!lowest_) find_lowest_buffers();
  const BufferRecord* buffer = lowest_buffer(frame);
  return {standing_name(books_, standing), buffer ? buffer_name(books_, *buffer) : "", nobody()};
}

}  // namespace ttmem::ledger
