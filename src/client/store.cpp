// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/store.hpp"

#include "client/words.hpp"

namespace ttmem::client {

using segment::Event;
using segment::Kind;
using segment::kNoSlot;
using segment::Meta;
using segment::Payload;
using segment::Slot;

std::uint32_t Store::take_slot(SlotPool pool) {
  std::uint32_t& free = free_[static_cast<int>(pool)];
  std::uint32_t slot = free;
  if (slot != kNoSlot) {
    free = links_[slot];
    if (pool == SlotPool::kPlain) --free_count_;
  } else {
    if (fresh_slot_ == ready_slots_) return kNoSlot;
    slot = static_cast<std::uint32_t>(fresh_slot_++);
    publish(header().table_slots, fresh_slot_);
  }
  auto& counters = this->counters();
  if (++counters.live_slots > counters.peak_slots) counters.peak_slots = counters.live_slots;
  return slot;
}

void Store::put_back(std::uint32_t slot, SlotPool pool) {
  std::uint32_t& free = free_[static_cast<int>(pool)];
  links_[slot] = free;
  free = slot;
  if (pool == SlotPool::kPlain) ++free_count_;
  --counters().live_slots;
}

void Store::count_event(std::uint64_t meta) {
  const auto kind = static_cast<std::uint32_t>(Meta::kind(meta));
  const std::uint32_t row = kind == 0 ? 16 + static_cast<std::uint32_t>(Meta::block(meta) & 15)
                                      : kind * 2 + (Meta::live(meta) ? 1 : 0);
  ++counters().events[row & 31];
}

// The word with the number comes last. Readers never look at the record being written: it is the
// oldest one, and they leave that out.
void Store::write_event(std::uint32_t slot, const Payload& payload) {
  ++head_;
  Event& event = at<Event>(segment::kEventsOffset)[head_ % segment::kEventCapacity];
  store_payload(event.payload, payload);
  publish(*reinterpret_cast<std::uint64_t*>(&event),
          std::uint64_t{slot} << 32 | static_cast<std::uint32_t>(head_));
}

void Store::commit(std::uint32_t number, const Payload& payload) {
  write_event(number, payload);
  Slot& slot = this->slot(number);
  set_word(slot.version, head_ << 1 | 1);
  store_payload(slot.payload, payload);
  publish(slot.version, head_ << 1);
  count_event(payload.meta);
  publish(header().head, head_);
}

void Store::commit_beside_live_words(std::uint32_t number, const Payload& payload) {
  write_event(number, payload);
  Slot& slot = this->slot(number);
  set_word(slot.version, head_ << 1 | 1);
  const auto words = std::bit_cast<PayloadWords>(payload);
  auto* out = reinterpret_cast<std::uint64_t*>(&slot.payload);
  for (const std::size_t i : {0u, 1u, 5u, 6u}) publish(out[i], words.word[i]);
  publish(slot.version, head_ << 1);
  count_event(payload.meta);
  publish(header().head, head_);
}
static_assert(offsetof(Payload, a) == 2 * 8 && offsetof(Payload, time) == 4 * 8);

void Store::commit_release(std::uint32_t number) {
  Slot& slot = this->slot(number);
  Payload payload = load_payload(slot.payload);
  payload.meta &= ~(1ull << Meta::kLiveShift);
  write_event(number, payload);
  set_word(slot.version, head_ << 1 | 1);
  publish(slot.payload.meta, payload.meta);
  publish(slot.version, head_ << 1);
  count_event(payload.meta);
  publish(header().head, head_);
}

void Store::note(segment::Note note, Payload payload) {
  payload.meta |= Meta::pack(Kind::kNote, false, 0, 0, 0, static_cast<std::uint64_t>(note));
  if (payload.time == 0) payload.time = clock_.now();
  write_event(kNoSlot, payload);
  count_event(payload.meta);
  publish(header().head, head_);
}

void Store::count_anomaly(std::uint32_t kind) {
  if (is_open() && kind < segment::kAnomalies) add_to(counters().anomalies[kind], 1);
}

void Store::count_unrecorded() {
  if (is_open()) add_to(counters().unrecorded, 1);
}

std::uint64_t Store::next_order() { return add_to(header().order, 1); }

}  // namespace ttmem::client
