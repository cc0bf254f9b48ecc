// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "ledger/assemble.hpp"
#include "ledger/figure_table.hpp"
#include "ledger/figures.hpp"
#include "ledger/untold.hpp"

namespace ttmem::ledger {
namespace {

// Whose it is, its pid as the host sees it, and when it started. Without the owner anybody could
// take the place of another's process by naming it.
using Instance = std::tuple<std::uint32_t, std::int32_t, std::uint64_t>;

// Empty: in a container, and nobody could tell its pid outside. Its own pid says nothing then.
std::optional<Instance> instance(const ProcessView& process) {
  if (!process.host_pid && !process.container.empty()) return std::nullopt;
  return Instance{process.uid, process.host_pid.value_or(process.pid), process.start};
}

// The segment alone does not decide: a process whose file was taken away has begun another.
bool is_same(const ProcessView& a, const ProcessView& b) {
  const std::optional<Instance> one = instance(a);
  return (a.uid == b.uid && a.is(b)) || (one && one == instance(b));
}

std::uint32_t next_free_id(const Snapshot& snapshot, std::uint32_t wanted) {
  const auto is_taken = [&](std::uint32_t id) {
    return std::ranges::find(snapshot.devices, id, &DeviceView::id) != snapshot.devices.end();
  };
  while (is_taken(wanted)) ++wanted;
  return wanted;
}

// The number that a chip of theirs has in `mine`; it is added there if nobody knew it.
std::uint32_t own_id(const DeviceView& chip, Snapshot& mine) {
  for (DeviceView& own : mine.devices) {
    const bool same_kind = own.arch == chip.arch || own.arch == Arch::kUnknown;
    if (own.unique_id != chip.unique_id || own.mock != chip.mock || !same_kind) continue;
    if (own.grid_x == 0) {  // only its number was known
      const std::uint32_t id = own.id;
      own = chip;
      own.id = id;
    }
    return own.id;
  }
  mine.devices.push_back(chip);
  DeviceView& added = mine.devices.back();
  added.id = UINT32_MAX;  // or it would be in its own way
  added.id = next_free_id(mine, chip.id);
  return added.id;
}

void sum_up(DeviceView& device, const std::vector<ProcessView>& processes) {
  DeviceSum sum;
  std::size_t known = 0;
  bool untold = false;
  device.processes = 0;
  for (const ProcessView& process : processes) {
    for (const ProcessDeviceView& part : process.devices) {
      if (part.id != device.id || !part.counts()) continue;
      ++known;
      sum.add(part.figures, process.alive);
      untold |= process.alive && has_untold_launches(part.figures);
      device.processes += process.alive && part.open;
    }
  }
  std::array<Figure, kPeaks> before;
  for_each_peak([&](std::size_t i, const Figure&, const Figure& peak) { before[i] = peak; },
                device.figures);
  device.figures = sum.result(known == 1);
  if (untold) device.figures.program_l1.resident.reset();
  if (device.figures.peak_basis == PeakBasis::kExact) return;
  for_each_peak(
      [&](std::size_t i, const Figure& now, Figure& peak) {
        if (now) peak = std::max(before[i].value_or(0), *now);
      },
      device.figures);
}

}  // namespace

bool add_processes(const Snapshot& theirs, Snapshot& mine) {
  // A pid with a start names a process of one boot only: an answer from another is of no use.
  if (theirs.boot_id != mine.boot_id) return false;
  std::map<std::uint32_t, std::uint32_t> ids;  // theirs -> ours
  for (const DeviceView& chip : theirs.devices) ids[chip.id] = own_id(chip, mine);
  for (const ProcessView& process : theirs.processes) {
    const auto same = [&](const ProcessView& own) { return is_same(own, process); };
    const auto read = [&](const ProcessView& own) { return !own.segment.empty() && same(own); };
    if (process.segment.empty() || std::ranges::any_of(mine.processes, read)) continue;
    // What procfs or the upstream region told of it is less than what the daemon read.
    std::erase_if(mine.processes, same);
    ProcessView& added = mine.processes.emplace_back(process);
    added.sources.push_back(Source::kDaemon);
    std::erase_if(added.devices, [&](const auto& part) { return !ids.contains(part.id); });
    for (ProcessDeviceView& part : added.devices) part.id = ids.at(part.id);
  }
  std::ranges::sort(mine.processes, {}, [](const ProcessView& process) {
    return std::tuple(!process.alive, process.pid, process.start);
  });
  distinguish(mine.processes);
  std::ranges::sort(mine.devices, {}, &DeviceView::id);
  for (DeviceView& device : mine.devices) sum_up(device, mine.processes);
  return true;
}

bool lacks_end(const ProcessView& process) { return !process.alive && process.ended_at == 0; }

void add_ends(const Snapshot& theirs, Snapshot& mine) {
  if (theirs.boot_id != mine.boot_id || std::ranges::none_of(mine.processes, lacks_end)) return;
  const auto name_of = [](const ProcessView& process) {
    return std::tuple(process.uid, process.pid, process.start, std::string_view(process.segment));
  };
  std::map<decltype(name_of(ProcessView())), TimeNs> ends;
  for (const ProcessView& process : theirs.processes) {
    if (!process.alive && process.ended_at != 0) ends.emplace(name_of(process), process.ended_at);
  }
  for (ProcessView& own : mine.processes) {
    if (!lacks_end(own)) continue;
    const auto found = ends.find(name_of(own));
    if (found != ends.end()) own.ended_at = found->second;
  }
}

}  // namespace ttmem::ledger
