// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/live_programs.hpp"

#include <algorithm>
#include <tuple>

namespace ttmem::ledger {
namespace {

// Kernels or ranges of one program, or traces of a process. A program has a few of each on each of
// its groups of cores; every change moves those behind it.
constexpr std::size_t kMostOfOne = std::size_t{1} << 16;

void insert(std::vector<SlotIndex>& slots, SlotIndex slot) {
  if (slots.size() >= kMostOfOne) throw TooMuch();
  slots.insert(std::lower_bound(slots.begin(), slots.end(), slot), slot);
}

void erase(std::vector<SlotIndex>& slots, SlotIndex slot) {
  const auto place = std::lower_bound(slots.begin(), slots.end(), slot);
  if (place != slots.end() && *place == slot) slots.erase(place);
}

}  // namespace

// Takes the program out of the sums, if it is in them, before anything of it changes.
LivePrograms::Entry& LivePrograms::touch(std::uint64_t program) {
  const auto [place, is_new] = entries_.try_emplace(program);
  Entry& entry = place->second;
  if (entry.counted) count(entry, false);
  if (is_new || entry.counted) to_count_.push_back(program);
  entry.counted = false;
  return entry;
}

// Without a question in between, programs are counted a few at a time.
void LivePrograms::settle_if_long() {
  constexpr std::size_t kFewPrograms = 64;
  if (to_count_.size() > kFewPrograms) settle();
}

void LivePrograms::forget_if_empty(std::uint64_t program) {
  const auto found = entries_.find(program);
  const Entry& entry = found->second;
  if (entry.programs.empty() && entry.kernels.empty() && entry.ranges.empty()) {
    entries_.erase(found);
  }
}

void LivePrograms::remove(SlotIndex slot, const Record& record) {
  ++version_;
  if (const auto* program = std::get_if<ProgramRecord>(&record)) {
    erase(touch(program->id).programs, slot);
    forget_if_empty(program->id);
  } else if (const auto* kernel = std::get_if<KernelRecord>(&record)) {
    erase(touch(kernel->program).kernels, slot);
    forget_if_empty(kernel->program);
  } else if (const auto* range = std::get_if<RangeRecord>(&record)) {
    erase(touch(range->program).ranges, slot);
    forget_if_empty(range->program);
  } else if (const auto* workload = std::get_if<WorkloadRecord>(&record)) {
    Slots& slots = workloads_[workload->id];
    erase(slots, slot);
    if (slots.empty()) workloads_.erase(workload->id);
  } else if (std::holds_alternative<TraceRecord>(record)) {
    erase(traces_, slot);
  }
}

void LivePrograms::add(SlotIndex slot, const Record& record) {
  ++version_;
  settle_if_long();
  if (const auto* program = std::get_if<ProgramRecord>(&record)) {
    insert(touch(program->id).programs, slot);
  } else if (const auto* kernel = std::get_if<KernelRecord>(&record)) {
    insert(touch(kernel->program).kernels, slot);
  } else if (const auto* range = std::get_if<RangeRecord>(&record)) {
    insert(touch(range->program).ranges, slot);
  } else if (const auto* workload = std::get_if<WorkloadRecord>(&record)) {
    insert(workloads_[workload->id], slot);
  } else if (std::holds_alternative<TraceRecord>(record)) {
    insert(traces_, slot);
  }
}

void LivePrograms::settle() const {
  for (const std::uint64_t id : to_count_) {
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.counted) continue;
    count(found->second, true);
    found->second.counted = true;
  }
  to_count_.clear();
}

// Two slots for one program on one set cannot be; if they are there, the first one counts.
std::vector<SlotIndex> LivePrograms::one_a_set(const Entry& entry) const {
  std::vector<SlotIndex> slots = entry.programs;
  const auto set_of = [&](SlotIndex slot) { return slots_.get<ProgramRecord>(slot)->set; };
  std::sort(slots.begin(), slots.end(), [&](SlotIndex a, SlotIndex b) {
    return std::tuple(set_of(a), a) < std::tuple(set_of(b), b);
  });
  const auto same = [&](SlotIndex a, SlotIndex b) { return set_of(a) == set_of(b); };
  slots.erase(std::unique(slots.begin(), slots.end(), same), slots.end());
  return slots;
}

void LivePrograms::count(const Entry& entry, bool up) const {
  count_shown(entry, up);
  if (entry.programs.size() == 1) return count_on_set(entry, entry.programs.front(), up);
  for (const SlotIndex slot : one_a_set(entry)) count_on_set(entry, slot, up);
}

void LivePrograms::count_on_set(const Entry& entry, SlotIndex slot, bool up) const {
  const ProgramRecord& program = *slots_.get<ProgramRecord>(slot);
  if (program.held) return;
  if (up) catalog_.effort().spend((entry.ranges.size() + entry.kernels.size()) * Effort::kHeavy);
  ProgramTotals& totals = totals_[program.set];
  if (program.flags.estimated) {
    for (const SlotIndex i : entry.kernels) {
      totals.count_estimated_kernel(*slots_.get<KernelRecord>(i), up);
    }
    totals.count_estimated_program(up);
    return drop_if_empty(program.set);
  }
  bool has_l1 = false;
  for (const SlotIndex i : entry.ranges) {
    const RangeRecord& range = *slots_.get<RangeRecord>(i);
    if (!belongs(range, program) || !takes_bytes(range)) continue;
    has_l1 = true;
    totals.count_range(range, range.cores != 0 && !program.flags.requested_only, up);
  }
  for (const SlotIndex i : entry.kernels) {
    if (program.loaded) totals.count_kernel(*slots_.get<KernelRecord>(i), program.type, up);
  }
  totals.count_program(program, has_l1, up);
  drop_if_empty(program.set);
}

// Of everything that is told, however much of it counts.
void LivePrograms::count_shown(const Entry& entry, bool up) const {
  if (up) catalog_.effort().spend(entry.programs.size() * (entry.ranges.size() + 1));
  for (const SlotIndex slot : entry.programs) {
    const ProgramRecord& program = *slots_.get<ProgramRecord>(slot);
    if (program.held) continue;
    const auto own = std::ranges::count_if(entry.ranges, [&](SlotIndex range) {
      return belongs(*slots_.get<RangeRecord>(range), program);
    });
    const auto change = [up](std::uint64_t& sum, std::uint64_t by) { up ? sum += by : sum -= by; };
    Shown& shown = shown_[program.set];
    change(shown.programs, 1);
    change(shown.kernels, entry.kernels.size());
    change(shown.ranges, static_cast<std::uint64_t>(own));
    if (shown.programs == 0) shown_.erase(program.set);
  }
}

const std::unordered_map<SetIndex, LivePrograms::Shown>& LivePrograms::shown() const {
  settle();
  return shown_;
}

void LivePrograms::drop_if_empty(SetIndex set) const {
  const ProgramTotals& totals = totals_[set];
  if (!totals.empty()) return;
  dropped_unions_ += totals.union_version();
  totals_.erase(set);
}

const ProgramTotals* LivePrograms::totals(SetIndex set) const {
  settle();
  const auto found = totals_.find(set);
  return found == totals_.end() ? nullptr : &found->second;
}

const SetFigures& LivePrograms::figures(SetIndex set) const {
  const std::pair now{version_, catalog_.version()};
  if (figures_as_of_ != now) figures_.clear();
  figures_as_of_ = now;
  const auto [place, is_new] = figures_.try_emplace(set);
  const ProgramTotals* sums = totals(set);
  if (is_new && sums) place->second = sums->figures(catalog_);
  return place->second;
}

std::uint64_t LivePrograms::union_version() const {
  settle();
  std::uint64_t sum = dropped_unions_;
  for (const auto& [set, totals] : totals_) sum += totals.union_version();
  return sum;
}

const LivePrograms::SetLaunches& LivePrograms::launches(SetIndex set) const {
  static const SetLaunches kNone;
  if (launches_as_of_ != version_) {
    launches_.clear();
    for (const auto& [id, slots] : workloads_) {
      for (const SlotIndex slot : slots) {
        const WorkloadRecord& record = *slots_.get<WorkloadRecord>(slot);
        std::uint64_t& sum = launches_[record.set].dispatches;
        sum = ledger::add(sum, record.launches.count);
      }
    }
    for (const SlotIndex slot : traces_) {
      const TraceRecord& record = *slots_.get<TraceRecord>(slot);
      std::uint64_t& sum = launches_[record.set].replays;
      sum = ledger::add(sum, record.launches.count);
    }
    launches_as_of_ = version_;
  }
  const auto found = launches_.find(set);
  return found == launches_.end() ? kNone : found->second;
}

std::uint64_t LivePrograms::dispatches(SetIndex set) const { return launches(set).dispatches; }
std::uint64_t LivePrograms::replays(SetIndex set) const { return launches(set).replays; }

void LivePrograms::fill(const Entry& entry, SlotIndex slot, Program& program) const {
  catalog_.effort().spend(entry.kernels.size() + entry.ranges.size() + 1);
  program.slot = slot;
  program.record = slots_.get<ProgramRecord>(slot);
  program.kernels.clear();
  program.ranges.clear();
  for (const SlotIndex i : entry.kernels) {
    program.kernels.push_back(slots_.get<KernelRecord>(i));
  }
  for (const SlotIndex i : entry.ranges) {
    const RangeRecord* range = slots_.get<RangeRecord>(i);
    if (belongs(*range, *program.record)) program.ranges.push_back(range);
  }
}

bool LivePrograms::find(std::uint64_t id, SetIndex set, Program& program) const {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  for (const SlotIndex slot : found->second.programs) {
    if (slots_.get<ProgramRecord>(slot)->set != set) continue;
    fill(found->second, slot, program);
    return true;
  }
  return false;
}

bool LivePrograms::find(SlotIndex slot, Program& program) const {
  const ProgramRecord* record = slots_.get<ProgramRecord>(slot);
  const auto found = record ? entries_.find(record->id) : entries_.end();
  if (found == entries_.end()) return false;
  fill(found->second, slot, program);
  return true;
}

const WorkloadRecord* LivePrograms::workload(std::uint64_t id) const {
  const auto found = workloads_.find(id);
  if (id == 0 || found == workloads_.end()) return nullptr;
  return slots_.get<WorkloadRecord>(found->second.front());
}

std::vector<SlotIndex> LivePrograms::programs() const {
  settle();
  std::vector<SlotIndex> all;
  for (const auto& [id, entry] : entries_) {
    if (entry.programs.size() == 1) {
      all.push_back(entry.programs.front());
      continue;
    }
    const std::vector<SlotIndex> slots = one_a_set(entry);
    all.insert(all.end(), slots.begin(), slots.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<const WorkloadRecord*> LivePrograms::workloads() const {
  std::vector<const WorkloadRecord*> all;
  all.reserve(workloads_.size());
  for (const auto& [id, slots] : workloads_) {
    all.push_back(slots_.get<WorkloadRecord>(slots.front()));
  }
  return all;
}

std::vector<SlotIndex> LivePrograms::traces() const { return traces_; }

std::uint64_t LivePrograms::dangling(const Entry& entry) const {
  if (entry.programs.empty()) return entry.kernels.size() + entry.ranges.size();
  std::uint64_t count = 0;
  for (const SlotIndex slot : entry.programs) {
    const ProgramRecord& program = *slots_.get<ProgramRecord>(slot);
    const bool lost = program.workload != 0 && !workload(program.workload);
    count += lost || !catalog_.device_set(program.set);
  }
  if (entry.programs.size() == 1) return count;
  return count + entry.programs.size() - one_a_set(entry).size();
}

std::uint64_t LivePrograms::dangling() const {
  settle();
  std::uint64_t count = 0;
  for (const auto& [id, entry] : entries_) count += dangling(entry);
  for (const auto& [set, totals] : totals_) count += totals.dangling(catalog_);
  for (const SlotIndex slot : traces_) {
    const TraceRecord& trace = *slots_.get<TraceRecord>(slot);
    count += trace.members != 0 && !catalog_.members(trace.members);
  }
  return count;
}

}  // namespace ttmem::ledger
