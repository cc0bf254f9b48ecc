// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/reader_table.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <memory>

#include "segment/reader_settled.hpp"

namespace ttmem::segment {

namespace {

constexpr std::size_t kBlockSlots = 1024;
using Block = std::array<Slot, kBlockSlots>;

// Blocks are looked at after the number of slots: both only grow.
bool read_table_slots(ReadOnlyFile& file, const Part& table, std::uint64_t& slots) {
  if (!file.read(offsetof(Header, table_slots), &slots, sizeof slots) || !file.restat())
    return false;
  const std::uint64_t backed = (file.data_bytes() + kUnbackedBytes) / sizeof(Slot);
  return slots <= table.entries && slots <= backed;
}

}  // namespace

bool TableReader::update(ReadOnlyFile& file, const Header& header, SlotSink& sink,
                         TableUpdate& update) {
  retry_unsettled(file, sink);
  if (begun_ && header.head + 1 < event_) return false;  // a number only grows
  if (!begun_) {
    if (!synchronise(file, sink, update)) return false;
  } else if (header.head > event_) {
    EventRun run = read_events(file, ring_, event_ + 1, header.head);
    if (run.complete) {
      for (std::size_t i = 0; i < run.events.size(); ++i) {
        apply(file, run.first + i, run.events[i], sink);
      }
      event_ = run.last();
      update.events = std::move(run);
    } else {
      const std::uint64_t before = event_;
      const std::uint64_t available = run.events.empty() ? header.head + 1 : run.first;
      if (!synchronise(file, sink, update)) return false;
      update.missed = available - before - 1;
    }
  }
  update.event = event_;
  update.unsettled = unsettled_.size();
  return refresh_launches(file, header, sink);
}

bool TableReader::synchronise(ReadOnlyFile& file, SlotSink& sink, TableUpdate& update) {
  update.table_read = true;
  for (std::uint32_t tries = 0; tries < kStateTries; ++tries) {
    std::uint64_t start = 0;
    std::uint64_t slots = 0;
    Pass pass;
    if (!read_head(file, start) || !read_table_slots(file, table_, slots) ||
        !read_table(file, slots, start, sink, pass)) {
      return false;
    }
    // A slot is written before the head moves: wait until the head covers all that was seen. A
    // writer that was stopped or killed in between does not move it. It has one event at a time, so
    // what was seen is then the state after that one.
    std::uint64_t end = 0;
    for (std::uint32_t waits = 0; waits < kSettleTries; ++waits) {
      if (!read_head(file, end)) return false;
      if (end >= pass.newest) break;
      ::sched_yield();
    }
    if (pass.newest > end + 1) continue;
    EventRun run;
    if (end > start) run = read_events(file, ring_, start + 1, end);
    if (end > start && !run.complete) continue;
    for (std::size_t i = 0; i < run.events.size(); ++i) {
      const std::uint64_t number = run.first + i;
      const auto late = pass.late.find(run.events[i].slot);
      if (late == pass.late.end() || late->second < number) {
        apply(file, number, run.events[i], sink);
        std::erase(pass.unsettled, run.events[i].slot);
      }
    }
    begun_ = true;
    event_ = std::max({end, start, pass.newest});
    unsettled_ = std::move(pass.unsettled);
    return true;
  }
  update.settled = false;
  return true;
}

bool TableReader::read_table(const ReadOnlyFile& file, std::uint64_t slots, std::uint64_t start,
                             SlotSink& sink, Pass& pass) {
  const auto first = std::make_unique_for_overwrite<Block>();
  const auto second = std::make_unique_for_overwrite<Block>();
  for (std::uint64_t base = 0; base < slots; base += kBlockSlots) {
    const std::size_t count = std::min<std::uint64_t>(kBlockSlots, slots - base);
    if (!file.read(table_.at(base), first->data(), count * sizeof(Slot)) ||
        !file.read(table_.at(base), second->data(), count * sizeof(Slot))) {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Slot& slot = (*second)[i];
      if (slot.version == 0 && (*first)[i].version == 0) continue;
      const bool settled = slot.version % 2 == 0 && agree((*first)[i], slot);
      if (!take(file, static_cast<std::uint32_t>(base + i), slot, settled, start, sink, pass)) {
        return false;
      }
    }
  }
  return true;
}

bool TableReader::take(const ReadOnlyFile& file, std::uint32_t index, Slot slot, bool settled,
                       std::uint64_t start, SlotSink& sink, Pass& pass) {
  if (!settled) {
    const Settled result = read_settled(file, table_.at(index), slot);
    if (result == Settled::kUnreadable) return false;
    if (result == Settled::kNo && !finish_from_ring(file, index, slot)) {
      pass.unsettled.push_back(index);
      deliver(index, 0, Payload{}, sink);
      return true;
    }
  }
  const std::uint64_t event = slot.version >> 1;
  if (event <= event_) return true;  // as the sink already has it
  pass.newest = std::max(pass.newest, event);
  if (event > start) pass.late[index] = event;
  deliver(index, event, slot.payload, sink);
  return true;
}

// A writer that stopped inside a slot had already written the event: the ring has the payload.
bool TableReader::finish_from_ring(const ReadOnlyFile& file, std::uint32_t index,
                                   Slot& slot) const {
  const std::uint64_t number = slot.version >> 1;
  Event first;
  Event second;
  const std::uint64_t offset = ring_.at(number % ring_.entries);
  if (!file.read(offset, &first, sizeof first) || !file.read(offset, &second, sizeof second) ||
      !agree(first, second) || first.number != static_cast<std::uint32_t>(number) ||
      first.slot != index) {
    return false;
  }
  slot.version = number << 1;
  slot.payload = first.payload;
  return true;
}

void TableReader::deliver(std::uint32_t index, std::uint64_t event, const Payload& payload,
                          SlotSink& sink) {
  if (has_live_words(payload) && Meta::live(payload.meta)) {
    launchers_[index] = event;
  } else if (!launchers_.empty()) {
    launchers_.erase(index);
  }
  sink.on_slot(index, payload);
}

void TableReader::apply(const ReadOnlyFile& file, std::uint64_t number, const Event& event,
                        SlotSink& sink) {
  if (event.slot == kNoSlot || event.slot >= table_.entries) return;
  Payload payload = event.payload;
  if (has_live_words(payload) && Meta::live(payload.meta)) {
    // An event does not carry live words. If the slot was reused since, a later event says so.
    Slot slot;
    const bool same = read_settled(file, table_.at(event.slot), slot) == Settled::kYes &&
                      Meta::kind(slot.payload.meta) == Meta::kind(payload.meta) &&
                      slot.payload.id == payload.id;
    payload.a = same ? slot.payload.a : 0;
    payload.b = same ? slot.payload.b : 0;
    payload.time = same ? slot.payload.time : 0;
  }
  deliver(event.slot, number, payload, sink);
}

bool TableReader::refresh_launches(const ReadOnlyFile& file, const Header& header, SlotSink& sink) {
  if (header.order == order_) return true;
  order_ = header.order;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sorted(launchers_.begin(), launchers_.end());
  std::ranges::sort(sorted);
  const auto block = std::make_unique_for_overwrite<Block>();
  for (std::size_t i = 0; i < sorted.size();) {
    const std::uint32_t base = sorted[i].first;
    std::size_t end = i;
    while (end < sorted.size() && sorted[end].first - base < kBlockSlots) ++end;
    const std::size_t count = sorted[end - 1].first - base + 1;
    if (!file.read(table_.at(base), block->data(), count * sizeof(Slot))) return false;
    for (; i < end; ++i) {
      const Slot& slot = (*block)[sorted[i].first - base];
      if (slot.version == sorted[i].second << 1) sink.on_launches(sorted[i].first, slot.payload);
    }
  }
  return true;
}

void TableReader::retry_unsettled(const ReadOnlyFile& file, SlotSink& sink) {
  std::erase_if(unsettled_, [&](std::uint32_t index) {
    Slot slot;
    if (read_settled(file, table_.at(index), slot) != Settled::kYes) return false;
    const std::uint64_t event = slot.version >> 1;
    if (event <= event_) deliver(index, event, slot.payload, sink);
    return true;  // a later event brings anything newer
  });
}

}  // namespace ttmem::segment
