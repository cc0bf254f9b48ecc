// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/run_book.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "serve/history/metric_table.hpp"
#include "view/words.hpp"

namespace ttmem::serve::history {
namespace {

constexpr std::size_t kLongestName = 256;

RunBook::Identity identity_of(const ledger::Snapshot& snapshot,
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
  const std::string ended(process.alive ? std::string_view() : view::name(process.ended));
  if (run.ended == ended) return false;
  run.ended = ended;
  run.ended_at = process.alive ? 0 : process.ended_at != 0 ? process.ended_at : now;
  return true;
}

}  // namespace

void RunBook::adopt(KnownRun run) {
  Identity identity{run.run.boot_id, run.run.pid, run.run.start, run.segment};
  runs_[std::move(identity)] = std::move(run);
}

KnownRun& RunBook::run_of(const ledger::Snapshot& snapshot, const ledger::ProcessView& process,
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

void RunBook::update(const ledger::Snapshot& snapshot, const DeviceBook& devices,
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
    known.dirty = known.dirty || known.run.failures != process.failures.size();
    known.run.failures = process.failures.size();
  }
  for (auto& [identity, known] : runs_) {
    if (known.present || !known.run.ended.empty()) continue;
    known.run.ended = "unknown";
    known.run.ended_at = round.unseen_since;
    known.dirty = true;
  }
}

const KnownRun* RunBook::find(const ledger::Snapshot& snapshot,
                              const ledger::ProcessView& process) const {
  const auto found = runs_.find(identity_of(snapshot, process));
  return found == runs_.end() ? nullptr : &found->second;
}

bool RunBook::has_changes() const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [](const auto& each) { return each.second.dirty; });
}

void RunBook::written() {
  for (auto each = runs_.begin(); each != runs_.end();) {
    each->second.dirty = false;
    const bool over = !each->second.present && !each->second.run.ended.empty();
    each = over ? runs_.erase(each) : std::next(each);
  }
}

void RunBook::mark_all_dirty() {
  for (auto& [identity, known] : runs_) known.dirty = true;
}

}  // namespace ttmem::serve::history
