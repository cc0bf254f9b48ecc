// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/reader_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "segment/reader_records.hpp"

namespace ttmem::segment {
namespace {

// ---- the event ring -----------------------------------------------------------------------------

// The oldest event that is surely not being overwritten while the head is `head`.
std::uint64_t oldest_safe(std::uint64_t head, std::uint64_t capacity) {
  const std::uint64_t margin = std::min<std::uint64_t>(kEventMargin, capacity / 4);
  const std::uint64_t kept = capacity - margin;
  return head >= kept ? head - kept + 1 : 1;
}

bool copy_records(const ReadOnlyFile& file, const SectionPlace& ring, std::uint64_t first,
                  std::vector<Event>& into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t index = (first + done) % ring.entries;
    const std::size_t count =
        std::min<std::size_t>(into.size() - done, static_cast<std::size_t>(ring.entries - index));
    if (!file.read(ring.at(index), into.data() + done, count * sizeof(Event))) return false;
    done += count;
  }
  return true;
}

// ---- the live table -----------------------------------------------------------------------------

constexpr std::size_t kBlockSlots = 1024;
using Block = std::array<Slot, kBlockSlots>;

// Blocks are looked at after the number of slots: both only grow.
bool read_table_slots(ReadOnlyFile& file, const SectionPlace& table, std::uint64_t& slots) {
  if (!file.read(offsetof(Header, table_slots), &slots, sizeof slots) || !file.restat())
    return false;
  const std::uint64_t backed = (file.data_bytes() + kUnbackedBytes) / sizeof(Slot);
  return slots <= table.entries && slots <= backed;
}

}  // namespace

// ---- the event ring -----------------------------------------------------------------------------

bool read_head(const ReadOnlyFile& file, std::uint64_t& head) {
  // A word that may change while it is copied: two equal reads are a value that stood there.
  std::uint64_t before = 0;
  if (!file.read(offsetof(Header, head), &before, sizeof before)) return false;
  for (std::uint32_t tries = 0; tries < kSettleTries; ++tries) {
    if (!file.read(offsetof(Header, head), &head, sizeof head)) return false;
    if (head == before) return true;
    before = head;
  }
  return true;
}

EventRun read_events(const ReadOnlyFile& file, const SectionPlace& ring, std::uint64_t from,
                     std::uint64_t to) {
  EventRun run;
  if (from == 0 || to < from) return run;
  std::uint64_t head = to;
  const std::uint64_t first = std::max({from, oldest_safe(head, ring.entries),
                                        to > kMaxEventsAtOnce ? to - kMaxEventsAtOnce + 1 : 1});
  if (first > to) return run;
  run.first = first;
  run.events.resize(to - first + 1);
  std::vector<Event> again(run.events.size());
  if (!copy_records(file, ring, first, run.events) || !copy_records(file, ring, first, again) ||
      !read_head(file, head) || head + 1 < to) {
    return {};
  }
  // Whatever the writer reached meanwhile is dropped, up to the last record that does not fit.
  std::size_t bad = 0;
  const std::uint64_t safe = oldest_safe(head, ring.entries);
  if (safe > first) bad = std::min<std::size_t>(safe - first, run.events.size());
  for (std::size_t i = run.events.size(); i > bad; --i) {
    const bool fits = run.events[i - 1].number == static_cast<std::uint32_t>(first + i - 1);
    if (!fits || std::memcmp(&run.events[i - 1], &again[i - 1], sizeof(Event)) != 0) {
      bad = i;
      break;
    }
  }
  run.events.erase(run.events.begin(), run.events.begin() + static_cast<std::ptrdiff_t>(bad));
  run.first = first + bad;
  run.complete = run.first == from && !run.events.empty();
  return run;
}

// ---- the live table -----------------------------------------------------------------------------

bool TableReader::update(ReadOnlyFile& file, const Header& header, SlotSink& sink,
                         TableUpdate& update, bool with_launches) {
  asked_slots_ = false;
  retry_unsettled(file, sink);
  if (begun_ && header.head + 1 < event_) return false;  // a number only grows
  if (!begun_) {
    if (!synchronise(file, sink, update)) return false;
  } else if (header.head > event_) {
    const std::uint64_t to =
        oldest_first_ ? std::min(header.head, event_ + kMaxEventsAtOnce) : header.head;
    EventRun run = read_events(file, ring_, event_ + 1, to);
    if (run.complete) {
      for (std::size_t i = 0; i < run.events.size(); ++i) {
        apply(file, run.first + i, run.events[i], sink);
      }
      event_ = run.last();
      update.events = std::move(run);
    } else {
      const std::uint64_t before = event_;
      const std::uint64_t available = run.events.empty() ? to + 1 : run.first;
      if (!synchronise(file, sink, update)) return false;
      update.missed = available - before - 1;
    }
  }
  update.event = event_;
  update.unsettled = unsettled_.size();
  return !with_launches || refresh_launches(file, header, sink);
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
    slots_ = slots;
    // A slot is written before the head moves: wait until the head covers all that was seen. A
    // writer that was stopped or killed in between does not move it. It has one event at a time, so
    // what was seen is then the state after that one.
    std::uint64_t end = 0;
    for (std::uint32_t waits = 0; waits < kSettleTries; ++waits) {
      if (!read_head(file, end)) return false;
      if (end >= pass.newest || !Patience::wait()) break;
    }
    if (pass.newest > end + 1) {
      if (tries + 1 == kStateTries) return false;  // ahead of its own head for ever
      continue;
    }
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
      if (pass.unsettled.size() >= kMaxUnsettled) return false;
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

// A slot beyond the table as it was known may be new: the table is asked for its size again, once
// for all events of an update.
bool TableReader::is_in_table(ReadOnlyFile& file, std::uint32_t slot) {
  if (slot >= slots_ && !asked_slots_) {
    asked_slots_ = true;
    std::uint64_t slots = 0;
    if (read_table_slots(file, table_, slots)) slots_ = slots;
  }
  return slot < slots_;
}

void TableReader::apply(ReadOnlyFile& file, std::uint64_t number, const Event& event,
                        SlotSink& sink) {
  if (event.slot == kNoSlot || !is_in_table(file, event.slot)) return;
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
