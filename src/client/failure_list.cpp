// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/failure_list.hpp"

#include <algorithm>

namespace ttmem::client {

using segment::Failure;
using segment::kMaxFailures;
using segment::kMaxListSlots;
using segment::Meta;
using segment::Payload;
using segment::Slot;

namespace {

struct Gap {
  std::uint64_t first = 0, slots = 0;
};

// The lowest gap between the lists in use that is large enough, else the largest one.
Gap find_gap(const Failure* records, std::uint32_t kept, std::uint64_t wanted) {
  Gap largest;
  std::uint64_t from = 0;
  for (;;) {
    std::uint64_t end = kMaxListSlots, next = kMaxListSlots;
    for (std::uint32_t i = 0; i < kept; ++i) {
      const std::uint64_t first = records[i].list_first;
      if (records[i].list_slots == 0 || first + records[i].list_slots <= from || first >= end)
        continue;
      end = std::max(first, from);
      next = first + records[i].list_slots;
    }
    if (end - from > largest.slots) largest = {from, end - from};
    if (largest.slots >= wanted || next >= kMaxListSlots) return largest;
    from = next;
  }
}

}  // namespace

void FailureList::place(Store& store, std::uint64_t wanted) {
  const auto* records = store.at<Failure>(segment::kFailuresOffset);
  const Gap gap = find_gap(records, std::min(store.header().failure_count, kMaxFailures), wanted);
  first_ = gap.first;
  room_ = std::min(gap.slots, wanted);
  const std::uint64_t bytes = (first_ + room_) * sizeof(Slot);
  if (!store.prepare(segment::SectionKind::kLists, bytes)) room_ = 0;
  entries_ = store.at<Slot>(segment::kListsOffset) + first_;
  clear();
}

void FailureList::clear() {
  count_ = sorted_ = 0;
  searching_ = true;
  cut_ = false;
}

void FailureList::add(std::uint32_t slot, const Payload& payload) {
  if (count_ == room_) {
    cut_ = true;
    return;
  }
  entries_[count_].version = slot;
  entries_[count_].payload = payload;
  ++count_;
  if (searching_) sorted_ = count_;
}

Slot* FailureList::find(std::uint32_t slot) const {
  Slot* const end = entries_ + count_;
  Slot* const sorted = entries_ + sorted_;
  Slot* found = std::lower_bound(
      entries_, sorted, slot, [](const Slot& entry, std::uint32_t n) { return entry.version < n; });
  if (found != sorted && found->version == slot) return found;
  found = std::find_if(sorted, end, [=](const Slot& entry) { return entry.version == slot; });
  return found == end ? nullptr : found;
}

void FailureList::replace(std::uint32_t slot, const Payload& payload, bool listed) {
  searching_ = false;
  Slot* const entry = find(slot);
  if (entry == nullptr) {
    if (listed) add(slot, payload);
    return;
  }
  if (listed) {
    entry->payload = payload;
  } else {
    entry->payload.meta &= ~(1ull << Meta::kLiveShift);
  }
}

void FailureList::describe(Failure& record) const {
  record.list_first = first_;
  record.list_slots = static_cast<std::uint32_t>(count_);
  const auto state = room_ == 0 && cut_ ? segment::ListState::kNone
                     : cut_             ? segment::ListState::kCut
                                        : segment::ListState::kComplete;
  record.list_state = static_cast<std::uint32_t>(state);
}

}  // namespace ttmem::client
