// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/host_sources.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "collect/job_names.hpp"
#include "ledger/figures.hpp"

namespace ttmem::collect {
namespace {

using ledger::OutsideTotals;
using ledger::Source;
using ledger::Space;

constexpr double kClockSlackSeconds = 2;  // /proc/stat tells the boot to a second

std::size_t index(Space space) { return static_cast<std::size_t>(space); }

std::uint64_t sum(const UpstreamRow& row) {
  return row.dram.value_or(0) + row.l1.value_or(0) + row.l1_small.value_or(0) +
         row.trace.value_or(0);
}

OutsideTotals totals_of(std::uint64_t chip, const UpstreamRow& row) {
  OutsideTotals totals;
  totals.unique_id = chip;
  totals.requested[index(Space::kDram)] = row.dram;
  totals.requested[index(Space::kL1)] = row.l1;
  totals.requested[index(Space::kL1Small)] = row.l1_small;
  totals.requested[index(Space::kTrace)] = row.trace;
  totals.program_l1_reserved = row.cb;
  return totals;
}

bool is_legacy(const ledger::ProcessView& process) {
  return std::ranges::find(process.sources, Source::kLegacy) != process.sources.end();
}

// Stable while the process lives, and of no segment: those are counted from 1.
std::uint64_t key_of(const HostProcess& process) {
  const auto pid = static_cast<std::uint64_t>(process.pid);
  return 1ull << 63 | pid << 40 | (process.start_ticks & 0xFF'FFFF'FFFF);
}

}  // namespace

void HostSources::refresh(std::uint64_t monotonic_ns) {
  if (devices_read_ns_ == 0 || monotonic_ns >= devices_read_ns_ + sensors_every_ns_) {
    devices_ = read_sysfs(root_);
    devices_read_ns_ = monotonic_ns;
  }
  if (places_.size() > kMostRemembered) places_.clear();
  processes_.begin_look();
  upstream_ = read_upstream(root_);
  problems_ = upstream_.problems;
  left_behind_.clear();
  told_bytes_.clear();
}

void HostSources::locate(std::uint64_t name_space, bool trusted, ledger::ProcessView& process) {
  process.host_pid = name_space == 0 ? std::optional(process.pid)
                                     : processes_.pid_here(name_space, process.pid, process.start);
  if (!process.host_pid) return;
  if (!trusted && !processes_.is_user(*process.host_pid, process.uid).value_or(true)) {
    process.host_pid.reset();
    return;
  }
  const auto [known, added] = places_.try_emplace({*process.host_pid, process.start});
  if (added) {
    const auto found = processes_.find(*process.host_pid);
    if (found && found->start_ticks == process.start) known->second = place_of(*found);
  }
  apply(known->second, process);
}

HostSources::Place HostSources::place_of(const HostProcess& process) const {
  return {process.container, find_pod(root_, pod_of_cgroup(process.cgroup), process.container),
          job_of_cgroup(process.cgroup)};
}

// What a process says about its job is finer than its cgroup, which knows no rank.
void HostSources::apply(const Place& place, ledger::ProcessView& process) {
  if (!place.container.empty()) process.container = place.container;
  process.pod.uid = place.pod.uid;
  if (!place.pod.name.empty()) process.pod = place.pod;
  if (process.job.key.empty()) process.job = place.job;
}

// ---- before the ledgers are put together -------------------------------------------------------

HostSources::Outsider* HostSources::outsider(Outsiders& all, std::int32_t pid,
                                             Source source) const {
  auto found = all.find(pid);
  if (found == all.end()) {
    auto process = processes_.find(pid);
    if (!process) return nullptr;
    found = all.emplace(pid, Outsider{.process = std::move(*process)}).first;
  }
  auto& sources = found->second.sources;
  if (std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
  return &found->second;
}

// A row whose process is gone, or whose pid belongs to a later process by now, is nobody's.
bool HostSources::is_alive(const UpstreamRow& row,
                           const std::optional<HostProcess>& process) const {
  if (!process) return false;
  const auto started = processes_.started_at(process->start_ticks);
  if (!started || row.updated_ns == 0) return true;
  return *started <= static_cast<double>(row.updated_ns) / 1e9 + kClockSlackSeconds;
}

// A row has a pid and the name of its process, but not the namespace of that pid: 1 is the first
// process of a container and of the host alike. The name tells them apart; where it does not, the
// pid is taken for one of this namespace.
std::optional<std::int32_t> HostSources::process_of(const UpstreamRow& row) {
  const auto own = processes_.find(row.pid);
  const bool is_own = is_alive(row, own);
  if (is_own && own->name == row.name) return row.pid;
  for (const std::int32_t here : processes_.inner(row.pid)) {
    const auto inner = processes_.find(here);
    if (is_alive(row, inner) && inner->name == row.name) return here;
  }
  return is_own ? std::optional(row.pid) : std::nullopt;
}

void HostSources::add_rows(const UpstreamRegion& region, Outsiders& all) {
  std::set<std::int32_t> seen;
  for (const UpstreamRow& row : region.rows) {
    const auto here = process_of(row);
    if (!here || !seen.insert(*here).second) {
      left_behind_.push_back(fmt::format(
          "chip 0x{:016x}: {} bytes of process {} ({}), which is gone; only TT-Metal itself or "
          "removing /dev/shm/tt_device_{}_memory clears them",
          region.unique_id, sum(row), row.pid, row.name, region.unique_id));
      continue;
    }
    Outsider* known = outsider(all, *here, Source::kUpstream);
    if (known == nullptr) continue;
    known->totals.push_back(totals_of(region.unique_id, row));
    known->updated = std::max(known->updated, row.updated_ns);
    told_bytes_[*here][region.unique_id] = sum(row);
  }
}

// As processes know this device, or as the driver does.
NumberedChips::Chip HostSources::chip_of(const SysfsDevice& device,
                                         const std::vector<ledger::ProcessInput>& inputs) const {
  for (const ledger::ProcessInput& input : inputs) {
    if (!input.ledger) continue;
    for (const ledger::DeviceIndex each : input.ledger->devices()) {
      const ledger::DeviceRecord& known = input.ledger->device(each);
      const bool is_it = !known.numbered && !joined_by(known.unique_id, device).empty();
      if (is_it) return {known.unique_id, known.arch};
    }
  }
  for (const UpstreamRegion& region : upstream_.regions) {
    if (!joined_by(region.unique_id, device).empty()) return {region.unique_id, device.arch};
  }
  return {device.unique_id().value_or(0), device.arch};
}

void HostSources::tell_numbers(const std::vector<ledger::ProcessInput>& inputs,
                               NumberedChips& chips) const {
  for (const SysfsDevice& device : devices_) {
    const NumberedChips::Chip chip = chip_of(device, inputs);
    if (chip.unique_id != 0) chips.tell_board(device.node, chip);
  }
}

void HostSources::add_users(const SysfsDevice& device,
                            const std::vector<ledger::ProcessInput>& inputs, Outsiders& all) {
  const DeviceUsers users = processes_.users(device.node);
  if (users.strangers) {
    problems_.push_back(fmt::format(
        "/dev/tenstorrent/{}: open in a process that is not visible from this pid namespace",
        device.node));
  }
  const std::uint64_t chip = chip_of(device, inputs).unique_id;
  if (chip == 0) return;
  for (const std::int32_t pid : users.pids) {
    Outsider* known = outsider(all, pid, Source::kProcfs);
    if (known == nullptr) continue;
    const auto same = [&](const OutsideTotals& totals) { return totals.unique_id == chip; };
    if (std::ranges::none_of(known->totals, same)) {
      known->totals.push_back({.unique_id = chip, .requested = {}, .program_l1_reserved = {}});
    }
  }
}

void HostSources::add(std::vector<ledger::ProcessInput>& inputs,
                      const std::optional<ledger::ProcessSelector>& only) {
  Outsiders all;
  for (const UpstreamRegion& region : upstream_.regions) add_rows(region, all);
  for (const SysfsDevice& device : devices_) add_users(device, inputs, all);
  // A process that writes a segment is counted from it; a client of the original's socket names its
  // chips by number only, so its region cannot be told from them and is left out.
  for (ledger::ProcessInput& input : inputs) {
    // A pid of another namespace that was not found here may be anybody's number here.
    if (!input.identity.alive || !input.identity.host_pid) continue;
    const auto found = all.find(*input.identity.host_pid);
    if (found == all.end()) continue;
    if (found->second.process.start_ticks != input.identity.start) continue;
    if (!is_legacy(input.identity)) input.outside = std::move(found->second.totals);
    all.erase(found);
  }
  for (auto& [number, outsider] : all) {
    ledger::ProcessInput input;
    ledger::ProcessView& view = input.identity;
    view.key = key_of(outsider.process);
    view.pid = number;
    view.host_pid = number;
    view.start = outsider.process.start_ticks;
    if (only && !only->matches(view)) continue;
    view.name = outsider.process.name;
    view.command = outsider.process.command;
    view.uid = outsider.process.uid;
    apply(place_of(outsider.process), view);
    view.alive = true;
    view.sources = outsider.sources;
    view.tracking.since_open = false;
    view.tracking.partial = true;
    input.outside = std::move(outsider.totals);
    input.trusted = false;  // everybody may write into the region
    input.to_time = [](ledger::Ticks) { return ledger::TimeNs{0}; };
    inputs.push_back(std::move(input));
  }
}

// ---- afterwards --------------------------------------------------------------------------------

// Where segment and region tell about the same chip, the segment counts, and they are compared.
void HostSources::compare(ledger::ProcessView& process) const {
  if (!process.alive || process.segment.empty() || !process.host_pid) return;
  const auto told = told_bytes_.find(*process.host_pid);
  if (told == told_bytes_.end()) return;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    const auto theirs = told->second.find(device.unique_id);
    if (device.index == 0 || theirs == told->second.end()) continue;
    std::uint64_t ours = 0;
    for (const Space space : ledger::kDeviceSpaces) {
      ours += device.figures.space(space).requested.value_or(0);
    }
    auto& difference = process.tracking.upstream_difference_bytes;
    difference = difference.value_or(0) + static_cast<std::int64_t>(ours) -
                 static_cast<std::int64_t>(theirs->second);
  }
}

void HostSources::add_device(const SysfsDevice& device, ledger::Snapshot& snapshot) const {
  std::set<std::uint32_t> taken;
  for (const ledger::DeviceView& each : snapshot.devices) taken.insert(each.id);
  ledger::DeviceView view;
  view.id = device.node;
  while (taken.contains(view.id)) ++view.id;
  view.unique_id = device.unique_id().value_or(0);
  view.board = device.board;
  view.arch = device.arch;
  view.host = device.host;
  view.figures = ledger::DeviceSum().result(true);
  snapshot.devices.push_back(std::move(view));
}

void HostSources::finish(ledger::Snapshot& snapshot) const {
  for (ledger::ProcessView& process : snapshot.processes) compare(process);
  for (const SysfsDevice& device : devices_) {
    bool known = false;
    for (ledger::DeviceView& view : snapshot.devices) {
      const std::string rule = joined_by(view.unique_id, device);
      if (rule.empty() || view.mock) continue;
      known = true;
      view.host = device.host;
      view.host->joined_by = rule;
      if (view.board.empty()) view.board = device.board;
      if (view.arch == ledger::Arch::kUnknown) view.arch = device.arch;
    }
    if (!known) add_device(device, snapshot);
  }
  std::ranges::sort(snapshot.devices, {}, &ledger::DeviceView::id);
  snapshot.left_behind = left_behind_;
  snapshot.unreadable.insert(snapshot.unreadable.end(), problems_.begin(), problems_.end());
}

}  // namespace ttmem::collect
