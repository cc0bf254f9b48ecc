// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/event_log.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace ttmem::collect {

void EventLog::add(SegmentSource& source, ledger::TimeNs now) {
  if (source.is_false_claim() && !processes_.contains(source.key())) {
    source.take_events();  // by the name of another's process: nobody is told
    return;
  }
  Process& process = processes_[source.key()];
  if (process.ended) return;
  process.user = source.identity().uid;
  if (!process.name) process.name = std::make_shared<ledger::ProcessName>(source.identity());
  EventBatch batch = source.take_events();
  if (batch.restart) replace(process, std::move(batch.initial));
  for (DecodedEvent& event : batch.events) round_.push_back({source.key(), std::move(event)});
  if (!source.alive()) end(process, source, now);
}

void EventLog::drop(const SegmentSource& source, ledger::TimeNs now) {
  const auto found = processes_.find(source.key());
  if (found == processes_.end()) return;
  if (!found->second.ended) end(found->second, source, now);
  found->second.gone = true;
}

void EventLog::end(Process& process, const SegmentSource& source, ledger::TimeNs now) {
  round_.push_back({source.key(), source.end_event(now)});
  process.ended = true;
}

void EventLog::merge(const ledger::Snapshot& snapshot, const ChipsOfUsers& all_chips) {
  std::map<std::uint64_t, std::uint32_t> ids;
  for (const ledger::DeviceView& device : snapshot.devices) ids[device.unique_id] = device.id;
  for (const ledger::ProcessView& process : snapshot.processes) {
    const auto known = processes_.find(process.key);
    if (known == processes_.end()) continue;
    ledger::Owner& name = known->second.name;
    if (*name != process) name = std::make_shared<const ledger::ProcessName>(process);
    believe(known->second, process);
  }
  std::ranges::stable_sort(round_, {}, [](const RoundEvent& each) { return each.event.view.time; });
  for (auto& [key, event] : round_) {
    Process& process = processes_[key];
    const NumberedChips& chips = all_chips.of(process.user);
    if (event.changed) {
      for (ledger::EventDevice& share : *event.changed) {
        share.unique_id = chips.resolve(share.unique_id);
      }
      replace(process, std::move(*event.changed));
    }
    event.view.process = process.name;
    for (ledger::EventDevice& device : event.view.devices) {
      device.unique_id = chips.resolve(device.unique_id);
      const auto id = ids.find(device.unique_id);
      if (id != ids.end()) device.id = id->second;
      const Total& total = totals_[device.unique_id];
      device.kernels_footprint = ledger::narrow(total.kernels_footprint);
      device.kernels_estimated = ledger::narrow(total.kernels_estimated);
      device.program_l1_allocated = ledger::narrow(total.program_l1_allocated);
    }
    stream_.push_back(std::move(event.view));
  }
  round_.clear();
  forget();
}

// A log that is kept for months must not remember every process that there ever was.
void EventLog::forget() {
  for (auto& [key, process] : processes_) {
    if (process.gone) replace(process, {});
  }
  std::erase_if(processes_, [](const auto& entry) { return entry.second.gone; });
  std::erase_if(totals_, [](const auto& entry) {
    return entry.second.kernels_footprint == 0 && entry.second.program_l1_allocated == 0;
  });
}

// The totals that events tell are those of the snapshot.
void EventLog::believe(Process& process, const ledger::ProcessView& view) {
  std::vector<std::uint64_t> disbelieved;
  for (const ledger::ProcessDeviceView& device : view.devices) {
    if (!device.counts()) disbelieved.push_back(device.unique_id);
  }
  if (disbelieved == process.disbelieved) return;
  const Shares shares = process.shares;
  replace(process, {});
  process.disbelieved = std::move(disbelieved);
  replace(process, shares);
}

void EventLog::replace(Process& process, Shares shares) {
  const auto counts = [&](const ledger::EventDevice& device) {
    return std::ranges::find(process.disbelieved, device.unique_id) == process.disbelieved.end();
  };
  for (const ledger::EventDevice& device : process.shares) {
    if (!counts(device)) continue;
    totals_[device.unique_id].kernels_footprint -= device.kernels_footprint;
    totals_[device.unique_id].kernels_estimated -= device.kernels_estimated;
    totals_[device.unique_id].program_l1_allocated -= device.program_l1_allocated;
  }
  process.shares = std::move(shares);
  for (const ledger::EventDevice& device : process.shares) {
    if (!counts(device)) continue;
    totals_[device.unique_id].kernels_footprint += device.kernels_footprint;
    totals_[device.unique_id].kernels_estimated += device.kernels_estimated;
    totals_[device.unique_id].program_l1_allocated += device.program_l1_allocated;
  }
}

std::vector<ledger::EventView> EventLog::take() { return std::exchange(stream_, {}); }

}  // namespace ttmem::collect
