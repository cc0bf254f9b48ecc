// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/known_subjects.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "serve/history/tracks.hpp"
#include "view/labels.hpp"

namespace ttmem::serve::history {
namespace {

constexpr std::size_t kLongestName = 256;
constexpr std::size_t kMostDevices = 8192;

KnownRuns::Identity identity_of(const ledger::Snapshot& snapshot,
                                const ledger::ProcessView& process) {
  return {snapshot.boot_id, process.pid, process.start, process.segment};
}

bool raise(Value& peak, const Value& now) {
  if (!now || (peak && *peak >= *now)) return false;
  peak = now;
  return true;
}

// `whole`: everything the counters say happened since the last round.
bool take_figures(RunOnDevice& device, const ledger::DeviceFigures& figures, bool continuous,
                  bool whole) {
  bool changed = raise(device.peak_program_l1, to_value(figures.program_l1.peak));
  device.risen = {};
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    const auto at = static_cast<std::size_t>(space);
    const bool known = device.peaks[at].has_value();
    if (!raise(device.peaks[at], to_value(figures.space(space).peak))) continue;
    changed = true;
    if (continuous && (known || whole)) device.risen[at] = device.peaks[at];
  }
  const Value dispatches = to_value(figures.kernels.dispatches);
  const bool known = device.dispatches.has_value() || whole;
  const std::int64_t before = device.dispatches.value_or(0);
  device.launches =
      continuous && known && dispatches ? std::max<std::int64_t>(0, *dispatches - before) : 0;
  device.dispatches = dispatches;
  return changed;
}

bool take_end(Run& run, const ledger::ProcessView& process, TimeNs now) {
  const std::string ended(process.alive ? std::string_view() : ledger::name(process.ended));
  if (run.ended == ended) return false;
  run.ended = ended;
  run.ended_at = process.alive ? 0 : process.ended_at != 0 ? process.ended_at : now;
  return true;
}

}  // namespace

void KnownDevices::adopt(const KnownDevice& device) {
  devices_[device.number] = device;
  numbers_[{device.unique_id, device.arch, device.mock}] = device.number;
}

KnownDevice& KnownDevices::device_of(const ledger::DeviceView& view) {
  const auto arch = static_cast<std::uint8_t>(view.arch);
  const auto [place, is_new] = numbers_.try_emplace({view.unique_id, arch, view.mock}, 0);
  if (is_new) {
    place->second = devices_.empty() ? 1 : devices_.rbegin()->first + 1;
    devices_[place->second] = {place->second, view.unique_id, arch, view.mock, view.id, true, true};
  }
  return devices_[place->second];
}

// Whoever invents devices cannot make this list grow without end.
void KnownDevices::forget_oldest_absent() {
  std::erase_if(devices_, [this](const auto& each) {
    const KnownDevice& device = each.second;
    if (numbers_.size() <= kMostDevices || device.present || device.dirty) return false;
    numbers_.erase({device.unique_id, device.arch, device.mock});
    return true;
  });
}

void KnownDevices::update(const ledger::Snapshot& snapshot) {
  if (devices_.size() > kMostDevices) forget_oldest_absent();
  for (auto& [number, device] : devices_) device.present = false;
  by_document_id_.clear();
  for (const ledger::DeviceView& view : snapshot.devices) {
    KnownDevice& device = device_of(view);
    device.present = true;
    device.dirty = device.dirty || device.shown_id != view.id;
    device.shown_id = view.id;
    by_document_id_[view.id] = device.number;
  }
}

std::optional<std::uint64_t> KnownDevices::number_of(std::uint32_t document_id) const {
  const auto found = by_document_id_.find(document_id);
  if (found == by_document_id_.end()) return std::nullopt;
  return found->second;
}

void KnownDevices::written() {
  for (auto& [number, device] : devices_) device.dirty = false;
}

void KnownDevices::mark_all_dirty() {
  for (auto& [number, device] : devices_) device.dirty = true;
}

void KnownRuns::move_back(TimeNs from, TimeNs by) {
  for (auto& [identity, known] : runs_) {
    for (TimeNs* time : {&known.run.first_seen, &known.run.ended_at}) {
      if (*time < from) continue;
      *time -= by;
      known.dirty = true;
    }
  }
}

void KnownRuns::adopt(KnownRun run) {
  Identity identity{run.run.boot_id, run.run.pid, run.run.start, run.segment};
  runs_[std::move(identity)] = std::move(run);
}

KnownRun& KnownRuns::run_of(const ledger::Snapshot& snapshot, const ledger::ProcessView& process,
                            const Round& round, const Lookup& lookup, bool& is_new) {
  Identity identity = identity_of(snapshot, process);
  auto found = runs_.find(identity);
  if (found != runs_.end()) return found->second;
  // A process that was known from outside and has a segment now is the same run.
  Identity outside = identity;
  std::get<3>(outside).clear();
  if (auto same = runs_.extract(outside); !same.empty()) {
    same.key() = identity;
    same.mapped().segment = process.segment;
    same.mapped().dirty = true;
    return runs_.insert(std::move(same)).position->second;
  }
  KnownRun& known = runs_[identity];
  if (auto stored = lookup(identity)) {
    known = std::move(*stored);
    return known;
  }
  is_new = true;
  known.segment = process.segment;
  known.dirty = true;
  Run& run = known.run;
  run.id = next_id_++;
  run.boot_id = snapshot.boot_id;
  run.pid = process.pid;
  run.start = process.start;
  run.name = process.name.substr(0, kLongestName);
  run.user = process.user.substr(0, kLongestName);
  run.uid = process.uid;
  run.started = process.started;
  run.first_seen = round.now;
  return known;
}

void KnownRuns::update(const ledger::Snapshot& snapshot, const KnownDevices& devices,
                       const Round& round, const Lookup& lookup) {
  for (auto& [identity, known] : runs_) known.present = false;
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (process.devices.empty()) continue;
    bool is_new = false;
    KnownRun& known = run_of(snapshot, process, round, lookup, is_new);
    known.present = true;
    const bool whole = is_new && process.started != 0 && process.started >= round.previous;
    for (const ledger::ProcessDeviceView& view : process.devices) {
      const auto number = devices.number_of(view.id);
      if (!number) continue;
      const auto [device, added] = known.devices.try_emplace(*number);
      const bool changed =
          take_figures(device->second, view.figures, round.continuous, whole || (added && !is_new));
      known.dirty = known.dirty || added || changed;
    }
    known.dirty = take_end(known.run, process, round.now) || known.dirty;
    known.dirty = known.dirty || known.run.failures != process.failure_count;
    known.run.failures = process.failure_count;
  }
  for (auto& [identity, known] : runs_) {
    if (known.present || !known.run.ended.empty()) continue;
    known.run.ended = "unknown";
    known.run.ended_at = round.unseen_since;
    known.dirty = true;
  }
}

const KnownRun* KnownRuns::find(const ledger::Snapshot& snapshot,
                                const ledger::ProcessView& process) const {
  const auto found = runs_.find(identity_of(snapshot, process));
  return found == runs_.end() ? nullptr : &found->second;
}

bool KnownRuns::has_changes() const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [](const auto& each) { return each.second.dirty; });
}

void KnownRuns::written() {
  for (auto each = runs_.begin(); each != runs_.end();) {
    each->second.dirty = false;
    const bool over = !each->second.present && !each->second.run.ended.empty();
    each = over ? runs_.erase(each) : std::next(each);
  }
}

void KnownRuns::mark_all_dirty() {
  for (auto& [identity, known] : runs_) known.dirty = true;
}

}  // namespace ttmem::serve::history
