// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/event_log.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ttmem::collect {

void EventLog::add(SegmentSource& source, ledger::TimeNs now) {
  Process& process = processes_[source.key()];
  if (process.ended) return;
  EventBatch batch = source.take_events();
  if (batch.restart) replace(process, std::move(batch.initial));
  std::ranges::move(batch.events, std::back_inserter(round_));
  if (!source.alive()) end(process, source, now);
}

void EventLog::drop(const SegmentSource& source, ledger::TimeNs now) {
  const auto found = processes_.find(source.key());
  if (found != processes_.end() && !found->second.ended) end(found->second, source, now);
}

void EventLog::end(Process& process, const SegmentSource& source, ledger::TimeNs now) {
  round_.push_back(source.end_event(now));
  process.ended = true;
}

void EventLog::merge(const ledger::Snapshot& snapshot) {
  std::map<std::uint64_t, std::uint32_t> ids;
  for (const ledger::DeviceView& device : snapshot.devices) ids[device.unique_id] = device.id;
  std::ranges::stable_sort(round_, {}, [](const DecodedEvent& event) { return event.view.time; });
  for (DecodedEvent& event : round_) {
    if (event.changed) replace(processes_[event.view.process_key], std::move(*event.changed));
    for (ledger::EventDevice& device : event.view.devices) {
      const auto id = ids.find(device.unique_id);
      if (id != ids.end()) device.id = id->second;
      const Total& total = totals_[device.unique_id];
      device.kernels_footprint = ledger::narrow(total.kernels_footprint);
      device.program_l1_allocated = ledger::narrow(total.program_l1_allocated);
    }
    stream_.push_back(std::move(event.view));
  }
  round_.clear();
}

void EventLog::replace(Process& process, Shares shares) {
  for (const ledger::EventDevice& device : process.shares) {
    totals_[device.unique_id].kernels_footprint -= device.kernels_footprint;
    totals_[device.unique_id].program_l1_allocated -= device.program_l1_allocated;
  }
  process.shares = std::move(shares);
  for (const ledger::EventDevice& device : process.shares) {
    totals_[device.unique_id].kernels_footprint += device.kernels_footprint;
    totals_[device.unique_id].program_l1_allocated += device.program_l1_allocated;
  }
}

std::vector<ledger::EventView> EventLog::take() { return std::exchange(stream_, {}); }

}  // namespace ttmem::collect
