// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/leak_follower.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace ttmem::explain {
namespace {

using ledger::EventKind;

constexpr std::size_t kMostFollowed = 256;  // processes; each may need 128 KiB

// Where words are not told, sizes tell allocations apart.
std::uint64_t what(const ledger::EventView& event) {
  if (event.operation.empty() && event.line.empty()) return event.requested;
  return std::hash<std::string>()(event.operation) * 31 + std::hash<std::string>()(event.line);
}

std::vector<ledger::Owner> living(const ledger::Snapshot& snapshot) {
  std::vector<ledger::Owner> owners;
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (process.alive) owners.push_back(std::make_shared<const ledger::ProcessName>(process));
  }
  return owners;
}

}  // namespace

void LeakFollower::take(const std::vector<ledger::EventView>& events) {
  for (const ledger::EventView& event : events) {
    if (watch_.followed() >= kMostFollowed && !watch_.follows(event.process)) continue;
    if (event.kind == EventKind::kStep) watch_.steps_of(event.process).mark(event.time);
    if (event.kind == EventKind::kGap) watch_.steps_of(event.process).missed();
    if (event.kind == EventKind::kBufferAllocated && !event.kernel_binaries) {
      watch_.steps_of(event.process).allocated(what(event), event.time);
    }
  }
}

void LeakFollower::mark_all(const ledger::Snapshot& snapshot) {
  for (const ledger::Owner& process : living(snapshot)) {
    watch_.steps_of(process).mark(snapshot.time);
  }
}

bool LeakFollower::is_due(const ledger::Snapshot& snapshot) const {
  for (const ledger::Owner& process : living(snapshot)) {
    if (watch_.is_due(process)) return true;
  }
  return false;
}

void LeakFollower::look(const ledger::Snapshot& snapshot, const AskSpaces& spaces) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, LeakLook> looks;  // by process and device
  for (const ledger::DeviceView& device : snapshot.devices) {
    for (const ledger::Space space : ledger::kDeviceSpaces) {
      for (ledger::LiveSpace& live : spaces(device.id, space)) {
        if (!watch_.is_due(live.process)) continue;
        LeakLook& one = looks[{live.process->key, device.id}];
        one.process = live.process;
        one.device = device.id;
        one.spaces.push_back(std::move(live.picture));
      }
    }
  }
  for (const auto& [key, one] : looks) watch_.look(one);
}

void LeakFollower::forget_the_dead(const ledger::Snapshot& snapshot) {
  watch_.keep_only(living(snapshot));
}

}  // namespace ttmem::explain
