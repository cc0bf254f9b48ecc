// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/explained_live.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/explained.hpp"

namespace ttmem::cli {
namespace {

using ledger::EventKind;

using Changes = std::map<std::uint64_t, std::map<ledger::Space, std::vector<explain::HeldChange>>>;

bool concerns(const ledger::EventView& event, std::uint32_t device) {
  return std::ranges::find(event.devices, device, &ledger::EventDevice::id) != event.devices.end();
}

// What happened on the device since the last thing that cannot be undone, by process and space.
Changes changes_of(collect::Collector& collector, std::uint32_t device) {
  Changes changes;
  for (const ledger::EventView& event : collector.take_events()) {
    auto& spaces = changes[event.process->key];
    const bool lost = event.kind == EventKind::kGap || event.kind == EventKind::kAllocatorCleared ||
                      event.kind == EventKind::kAllocatorClosed;
    if (lost) spaces.clear();
    const bool allocated = event.kind == EventKind::kBufferAllocated;
    if (!allocated && event.kind != EventKind::kBufferFreed) continue;
    if (!event.block || !concerns(event, device)) continue;
    spaces[event.space].push_back(
        {event.time, allocated, {event.address, event.address + *event.block}});
  }
  return changes;
}

}  // namespace

view::ExplainedDevice explained_live(collect::Collector& collector, std::uint32_t device) {
  Changes changes = changes_of(collector, device);
  struct Process {
    ledger::Owner process = ledger::nobody();
    std::vector<explain::SpaceToday> spaces;
  };
  std::map<std::uint64_t, Process> processes;
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    for (ledger::LiveSpace& live : collector.live_spaces(device, space)) {
      if (live.picture.bank.end <= live.picture.bank.begin) continue;
      Process& process = processes[live.process->key];
      process.process = live.process;
      process.spaces.push_back(
          {std::move(live.picture), std::move(changes[live.process->key][space])});
    }
  }
  view::ExplainedDevice result;
  result.device = device;
  for (const auto& [key, process] : processes) {
    view::ExplainedProcess& each = result.processes.emplace_back();
    each.process = process.process;
    each.findings = explain::explain_live(process.spaces, collector.snapshot().time);
    each.sources = sources_of(each.findings.moves, collector.snapshot(), *process.process);
  }
  return result;
}

}  // namespace ttmem::cli
