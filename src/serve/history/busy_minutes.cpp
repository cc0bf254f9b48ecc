// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/busy_minutes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ttmem::serve::history {
namespace {

constexpr std::int64_t kMinuteS = 60;

BusyProgram busy_in(const ledger::ProgramView& program, std::int64_t minute) {
  BusyProgram busy;
  busy.minute_s = minute * kMinuteS;
  busy.name = program.name;
  busy.process = program.process->name;
  busy.pid = program.process->pid;
  for (const ledger::LaunchInterval& interval : program.launches->intervals) {
    if (static_cast<std::int64_t>(interval.time / kSecondNs) / kMinuteS != minute) continue;
    busy.launches += interval.launches;
    busy.replays += interval.replays;
  }
  return busy;
}

// Programs of one process and name are one here: a cache has many of them.
void add(std::vector<BusyProgram>& all, const BusyProgram& more) {
  const auto same = std::ranges::find_if(
      all, [&](const BusyProgram& each) { return each.name == more.name && each.pid == more.pid; });
  if (same == all.end()) {
    all.push_back(more);
  } else {
    same->launches += more.launches;
    same->replays += more.replays;
  }
}

}  // namespace

std::vector<BusyProgram> BusyMinutes::take(const ledger::Snapshot& snapshot,
                                           const Programs& programs) {
  const std::int64_t now = static_cast<std::int64_t>(snapshot.time / kSecondNs) / kMinuteS;
  const std::int64_t over = std::exchange(minute_, now);
  if (over == 0 || now <= over) return {};
  std::map<std::uint32_t, std::vector<BusyProgram>> by_device;
  for (const ledger::ProgramView& program : programs()) {
    if (!program.launches) continue;
    const BusyProgram busy = busy_in(program, over);
    if (busy.launches == 0) continue;
    for (const std::uint32_t device : program.devices) add(by_device[device], busy);
  }
  std::vector<BusyProgram> result;
  for (const ledger::DeviceView& device : snapshot.devices) {
    std::vector<BusyProgram>& found = by_device[device.id];
    std::ranges::stable_sort(found, std::greater{}, &BusyProgram::launches);
    if (found.size() > kBusyOfDevice) found.resize(kBusyOfDevice);
    for (BusyProgram& each : found) {
      each.unique_id = device.unique_id;
      result.push_back(std::move(each));
    }
  }
  return result;
}

}  // namespace ttmem::serve::history
