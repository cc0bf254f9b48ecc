// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/store.hpp"

#include "client/atomic_words.hpp"

namespace ttmem::client {

using segment::Kind;
using segment::kNoSlot;
using segment::Meta;
using segment::Payload;

void Store::note(segment::Note note, Payload payload) {
  payload.meta |= Meta::pack(Kind::kNote, false, 0, 0, 0, static_cast<std::uint64_t>(note));
  if (payload.time == 0) payload.time = clock_.now();
  write_event(kNoSlot, payload);
  count_event(payload.meta);
  publish(header().head, head_);
}

void Store::count_anomaly(std::uint32_t kind) {
  if (!is_open() || kind >= segment::kAnomalies) return;
  add_to(counters().anomalies[kind], 1);
  changed();
}

void Store::count_unrecorded() {
  if (!is_open()) return;
  add_to(counters().unrecorded, 1);
  changed();
}

void Store::count_odd_stack() {
  add_to(counters().odd_stacks, 1);
  changed();
}

[[gnu::hot]] std::uint64_t Store::next_order() { return add_to(header().order, 1); }

}  // namespace ttmem::client
