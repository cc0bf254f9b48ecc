// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/segment_writer.hpp"

namespace ttmem::client {

using segment::kNoSlot;
using segment::Payload;

std::uint32_t SegmentWriter::most_records() const {
  constexpr std::uint64_t kMost = 1u << 22;
  const std::uint64_t share = store.file().max_slots() / 4;
  return static_cast<std::uint32_t>(share < kMost ? share : kMost);
}

void SegmentWriter::report(std::uint32_t anomaly, std::uint64_t id, std::uint16_t set) {
  store.count_anomaly(anomaly);
  Payload payload = {};
  payload.a = anomaly;
  payload.b = id;
  payload.set = set;
  note(segment::Note::kAnomaly, payload);
}

void SegmentWriter::refuse(std::uint32_t anomaly, std::uint64_t id) {
  store.count_unrecorded();
  report(anomaly, id);
}

std::uint32_t SegmentWriter::take_slot(SlotPool pool) {
  // Growing calls the system, so it happens outside of the lock; another thread may be faster then.
  for (bool room = true; room;) {
    bool low = false;
    std::uint32_t slot = kNoSlot;
    {
      const LockGuard guard(store.lock);
      slot = store.take_slot(pool);
      low = store.is_low();
    }
    if (slot != kNoSlot) {
      if (low) store.grow();
      return slot;
    }
    room = store.grow();
  }
  refuse(TTMEM_ANOMALY_TABLE_FULL, 0);
  return kNoSlot;
}

void SegmentWriter::commit(std::uint32_t slot, const Payload& payload) {
  const LockGuard guard(store.lock);
  store.commit(slot, payload);
}

void SegmentWriter::release(std::uint32_t slot, SlotPool pool) {
  const LockGuard guard(store.lock);
  store.commit_release(slot);
  store.put_back(slot, pool);
}

void SegmentWriter::note(segment::Note note, const Payload& payload) {
  const LockGuard guard(store.lock);
  store.note(note, payload);
}

bool SegmentWriter::enter(SlotIndex& index, std::uint32_t tag, std::uint32_t value) {
  overflow.prepare();
  if (index.wants_preparation()) index.prepare();
  return index.insert(overflow, tag, value);
}

ColdCall::ColdCall(Store& store) : store_(store) {
  store_.gate.lock();
  store_.maintain_now_and_then();
}

ColdCall::~ColdCall() { store_.gate.unlock(); }

}  // namespace ttmem::client
