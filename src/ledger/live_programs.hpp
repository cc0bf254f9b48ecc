// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The programs of one process with their kernels and L1 ranges, the workloads that launch them and
// the traces that replay them.
//
// Records of one program come in any order and one by one, so nothing is summed at once: the first
// change to a program takes it out of the sums, and the next question puts it back as it is then.
//
//   apply(range)  ->  program 7 counted?  take it out, remember it   (cheap, once)
//   apply(...)    ->  already out         nothing
//   figures()     ->  settle: count program 7 again                   (cost: its own records)
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ledger/catalog.hpp"
#include "ledger/program_totals.hpp"
#include "ledger/records.hpp"
#include "ledger/slot_table.hpp"

namespace ttmem::ledger {

class LivePrograms {
 public:
  LivePrograms(const Catalog& catalog, const SlotTable& slots) : catalog_(catalog), slots_(slots) {}

  // Called before a record leaves the table, and after one has come.
  void remove(SlotIndex slot, const Record& record);
  void add(SlotIndex slot, const Record& record);
  void launched() { ++version_; }  // the launches of some workload or trace changed

  // Sums by set. Null: no program there.
  const ProgramTotals* totals(SetIndex set) const;
  const SetFigures& figures(SetIndex set) const;
  // Launches of the live workloads (or traces) of a set.
  std::uint64_t dispatches(SetIndex set) const;
  std::uint64_t replays(SetIndex set) const;

  // A program as it stands on one set: its slot and what belongs to it. Views are ranges too.
  struct Program {
    SlotIndex slot = 0;
    const ProgramRecord* record = nullptr;
    std::vector<const KernelRecord*> kernels;
    std::vector<const RangeRecord*> ranges;
  };
  bool find(std::uint64_t id, SetIndex set, Program& program) const;
  bool find(SlotIndex slot, Program& program) const;
  const WorkloadRecord* workload(std::uint64_t id) const;
  std::vector<const WorkloadRecord*> workloads() const;
  // Slots of every live program and trace, by id and slot.
  std::vector<SlotIndex> programs() const;
  std::vector<SlotIndex> traces() const;

  // What is told one by one, by set: programs that are not held only by a trace, the kernels of
  // each and the ranges of each.
  struct Shown {
    std::uint64_t programs = 0, kernels = 0, ranges = 0;
  };
  const std::unordered_map<SetIndex, Shown>& shown() const;

  std::uint64_t dangling() const;
  // Grows with every change; and when a union of ranges may have changed.
  std::uint64_t version() const { return version_; }
  std::uint64_t union_version() const;

 private:
  using Slots = std::vector<SlotIndex>;  // ascending
  struct Entry {
    Slots programs, kernels, ranges;
    bool counted = false;
  };
  struct SetLaunches {
    std::uint64_t dispatches = 0, replays = 0;
  };

  Entry& touch(std::uint64_t program);
  void forget_if_empty(std::uint64_t program);
  void settle_if_long();
  void settle() const;
  void count(const Entry& entry, bool up) const;
  void count_on_set(const Entry& entry, SlotIndex slot, bool up) const;
  void count_shown(const Entry& entry, bool up) const;
  void drop_if_empty(SetIndex set) const;
  std::vector<SlotIndex> one_a_set(const Entry& entry) const;
  const SetLaunches& launches(SetIndex set) const;
  void fill(const Entry& entry, SlotIndex slot, Program& program) const;
  std::uint64_t dangling(const Entry& entry) const;

  const Catalog& catalog_;
  const SlotTable& slots_;
  mutable std::unordered_map<std::uint64_t, Entry> entries_;
  mutable std::vector<std::uint64_t> to_count_;
  mutable std::unordered_map<SetIndex, ProgramTotals> totals_;
  mutable std::unordered_map<SetIndex, Shown> shown_;
  mutable std::uint64_t dropped_unions_ = 0;
  mutable std::unordered_map<SetIndex, SetFigures> figures_;
  mutable std::pair<std::uint64_t, std::uint64_t>
      figures_as_of_;  // versions of programs and catalog
  std::unordered_map<std::uint64_t, Slots> workloads_;
  Slots traces_;
  std::uint64_t version_ = 1;
  mutable std::unordered_map<SetIndex, SetLaunches> launches_;
  mutable std::uint64_t launches_as_of_ = 0;
};

// ---- what counts: every figure, view and event goes by these ------------------------------------

// Programs that are in the totals.
inline bool counts(const ProgramRecord& program) {
  return !program.held && !program.flags.estimated;
}
// Ranges of the program as it stands now; those of another generation are being replaced.
inline bool belongs(const RangeRecord& range, const ProgramRecord& program) {
  return range.set == program.set && range.generation == program.generation;
}
// Ranges that take bytes of their own: a view aliases a buffer, which counts already.
inline bool takes_bytes(const RangeRecord& range) {
  return range.part != Part::kView && range.size > 0;
}
// Only circular buffers and views of buffers through one have an index, where it is told.
inline Figure index_of(const RangeRecord& range) {
  constexpr std::uint32_t kUntold = 255;  // TTMEM_INDEX_UNKNOWN
  const bool may_have = range.part == Part::kCb || range.part == Part::kView;
  return may_have && range.index != kUntold ? Figure(range.index) : Figure();
}
// Without a launch that was told: whether that means that there was none.
inline bool tells_launches(const ProgramRecord& program) {
  return !program.flags.launches_untold && !program.flags.estimated;
}
// On one device.
inline std::uint64_t footprint_of(const Catalog& catalog, const KernelRecord& kernel) {
  return times(kernel.packed_bytes, catalog.core_count(kernel.cores));
}
inline std::uint64_t allocated_by(const Catalog& catalog, const RangeRecord& range) {
  return takes_bytes(range) ? times(range.size, catalog.core_count(range.cores)) : 0;
}

}  // namespace ttmem::ledger
