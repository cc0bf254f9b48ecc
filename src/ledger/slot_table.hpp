// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What every slot of a process holds. Pages come when they are needed, so that one absurd slot
// number costs a page, not a table; beyond kMaxSlots there is nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "base/assert.hpp"
#include "ledger/records.hpp"

namespace ttmem::ledger {

class SlotTable {
 public:
  static constexpr SlotIndex kMaxSlots = 1u << 28;

  // The record of a slot below kMaxSlots, made if needed.
  Record& at(SlotIndex slot) {
    TTMEM_DCHECK(slot < kMaxSlots);
    const std::size_t page = slot / kPageSlots;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[slot % kPageSlots];
  }

  // Null if nothing was ever there.
  const Record* find(SlotIndex slot) const {
    const std::size_t page = slot / kPageSlots;
    if (page >= pages_.size() || !pages_[page]) return nullptr;
    return &(*pages_[page])[slot % kPageSlots];
  }
  Record* find(SlotIndex slot) {
    return const_cast<Record*>(static_cast<const SlotTable&>(*this).find(slot));
  }

  template <typename T>
  const T* get(SlotIndex slot) const {
    const Record* record = find(slot);
    return record ? std::get_if<T>(record) : nullptr;
  }

  // Calls visit(slot, record) for every slot in use, ascending.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      if (!pages_[page]) continue;
      for (std::size_t i = 0; i < kPageSlots; ++i) {
        const Record& record = (*pages_[page])[i];
        if (!std::holds_alternative<std::monostate>(record)) {
          visit(static_cast<SlotIndex>(page * kPageSlots + i), record);
        }
      }
    }
  }

 private:
  static constexpr std::size_t kPageSlots = 512;
  using Page = std::array<Record, kPageSlots>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace ttmem::ledger
