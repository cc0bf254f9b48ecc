// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/event_log.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ttmem::collect {

namespace {

void add_to(Shares& sum, const Shares& part, std::int64_t sign) {
  for (const auto& [id, share] : part) {
    sum[id].kernels_footprint += sign * share.kernels_footprint;
    sum[id].program_l1_allocated += sign * share.program_l1_allocated;
  }
}

std::uint64_t not_negative(std::int64_t value) {
  return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

}  // namespace

void EventLog::add(SegmentSource& source, ledger::TimeNs now) {
  Process& process = processes_[source.key()];
  if (process.ended) return;
  if (!process.decoder) process.decoder = std::make_unique<EventDecoder>(source);
  EventDecoder::Batch batch = process.decoder->decode(source.take_events());
  if (batch.restart) {
    add_to(totals_, process.shares, -1);
    process.shares = std::move(batch.initial);
    add_to(totals_, process.shares, 1);
  }
  std::ranges::move(batch.events, std::back_inserter(round_));
  if (!source.alive()) end(process, source, now);
}

void EventLog::drop(const SegmentSource& source, ledger::TimeNs now) {
  const auto found = processes_.find(source.key());
  if (found == processes_.end()) return;
  if (!found->second.ended && found->second.decoder) end(found->second, source, now);
}

void EventLog::end(Process& process, const SegmentSource& source, ledger::TimeNs now) {
  const std::uint64_t closed = source.wall(source.header().ended_ticks);
  round_.push_back(process.decoder->ended(closed != 0 ? closed : now));
  process.decoder.reset();
  process.ended = true;
}

void EventLog::merge(const ledger::Snapshot& snapshot) {
  std::map<std::uint64_t, std::uint32_t> ids;
  for (const ledger::DeviceView& device : snapshot.devices) ids[device.unique_id] = device.id;
  std::ranges::stable_sort(round_, {}, [](const DecodedEvent& event) { return event.view.time; });
  for (DecodedEvent& event : round_) {
    apply(event, processes_[event.view.process_key]);
    for (ledger::EventDevice& device : event.view.devices) {
      const auto id = ids.find(device.unique_id);
      if (id != ids.end()) device.id = id->second;
      const DeviceShare& total = totals_[device.unique_id];
      device.kernels_footprint = not_negative(total.kernels_footprint);
      device.program_l1_allocated = not_negative(total.program_l1_allocated);
    }
    stream_.push_back(std::move(event.view));
  }
  round_.clear();
}

void EventLog::apply(const DecodedEvent& event, Process& process) {
  if (event.view.kind == ledger::EventKind::kProcessEnded) {
    add_to(totals_, process.shares, -1);
    process.shares.clear();
    return;
  }
  if (event.change.kernels_footprint == 0 && event.change.program_l1_allocated == 0) return;
  Shares change;
  for (const ledger::EventDevice& device : event.view.devices) {
    change[device.unique_id] = event.change;
  }
  add_to(process.shares, change, 1);
  add_to(totals_, change, 1);
}

std::vector<ledger::EventView> EventLog::take() { return std::exchange(stream_, {}); }

}  // namespace ttmem::collect
