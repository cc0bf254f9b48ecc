// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/residency.hpp"

#include <algorithm>
#include <tuple>

namespace ttmem::ledger {
namespace {

bool in(const std::vector<SetIndex>& sets, SetIndex set) {
  return std::binary_search(sets.begin(), sets.end(), set);
}

bool can_stand(const ProgramRecord& program) {
  return !program.flags.estimated && !program.flags.requested_only;
}

// A program runs where its kernels are, and also where its L1 is.
CoreMask cover_of(const LivePrograms::Program& program, const CoreGrid& grid) {
  CoreMask cover = grid.empty_mask();
  for (const KernelRecord* kernel : program.kernels) join(cover, grid.mask(kernel->cores));
  for (const RangeRecord* range : program.ranges) {
    if (takes_bytes(*range)) join(cover, grid.mask(range->cores));
  }
  return cover;
}

std::vector<AddressRange> ranges_at(const LivePrograms::Program& program, const CoreGrid& grid,
                                    std::size_t core) {
  std::vector<AddressRange> ranges;
  for (const RangeRecord* range : program.ranges) {
    if (takes_bytes(*range) && has_bit(grid.mask(range->cores), core)) {
      ranges.push_back({range->address, add(range->address, range->size)});
    }
  }
  return merged(std::move(ranges));
}

}  // namespace

// Goes through the launches, last one first, and fills the cores that no later launch has taken.
class Residency::Walk {
 public:
  Walk(const Residency& of, const Kind& kind)
      : of_(of),
        grid_(*kind.first),
        sets_(kind.second),
        result_(grid_.size()),
        open_(grid_.empty_mask()) {
    for (const SetIndex set : sets_) {
      const ProgramTotals* totals = of_.programs_.totals(set);
      if (!totals) continue;
      of_.catalog_.effort().spend(totals->kernels().size() + totals->ranges().size());
      for (const auto& [key, group] : totals->kernels()) join(open_, grid_.mask(std::get<2>(key)));
      for (const auto& [cores, group] : totals->ranges()) join(open_, grid_.mask(cores));
    }
    for (const SlotIndex slot : of_.programs_.traces()) open_members(slot);
  }

  std::vector<Standing> run() {
    for (const Launch& launch : of_.launches()) {
      if (count_bits(open_) == 0) break;
      of_.catalog_.effort().spend(1);
      if (!in(sets_, launch.set)) continue;
      launch.is_trace ? replay(launch.slot) : run_program(launch.slot);
    }
    return std::move(result_);
  }

 private:
  void run_program(SlotIndex slot) {
    if (!of_.programs_.find(slot, program_)) return;
    CoreMask cover = cover_of(program_, grid_);
    intersect(cover, open_);
    for_each_bit(cover, [&](std::size_t core) {
      of_.catalog_.effort().spend(program_.ranges.size() + 1);
      settle(core, {slot, kNoSlot, ranges_at(program_, grid_, core)});
    });
  }

  // On each core, the member with the most bytes there.
  void replay(SlotIndex slot) {
    std::map<std::size_t, std::pair<std::uint64_t, Standing>> most;
    for_each_member(slot, [&] {
      CoreMask cover = cover_of(program_, grid_);
      intersect(cover, open_);
      for_each_bit(cover, [&](std::size_t core) {
        of_.catalog_.effort().spend(program_.ranges.size() + 1);
        Standing standing{program_.slot, slot, ranges_at(program_, grid_, core)};
        const std::uint64_t bytes = total_bytes(standing.ranges);
        const auto [place, is_new] = most.try_emplace(core);
        if (is_new || bytes > place->second.first) place->second = {bytes, std::move(standing)};
      });
    });
    for (auto& [core, best] : most) settle(core, std::move(best.second));
  }

  template <typename Visit>
  void for_each_member(SlotIndex slot, Visit visit) {
    const auto* members = of_.catalog_.members(of_.slots_.get<TraceRecord>(slot)->members);
    if (!members) return;
    of_.catalog_.effort().spend(members->size() * Effort::kHeavy);
    for (const TraceMember& member : *members) {
      if (!in(sets_, member.set) || !of_.programs_.find(member.program, member.set, program_))
        continue;
      if (can_stand(*program_.record)) visit();
    }
  }

  void open_members(SlotIndex slot) {
    for_each_member(slot, [&] { join(open_, cover_of(program_, grid_)); });
  }

  void settle(std::size_t core, Standing&& standing) {
    clear_bit(open_, core);
    result_[core] = std::move(standing);
  }

  const Residency& of_;
  const CoreGrid& grid_;
  const std::vector<SetIndex>& sets_;
  std::vector<Standing> result_;
  CoreMask open_;  // cores that some launch may still claim
  LivePrograms::Program program_;
};

std::optional<Residency::Kind> Residency::kind(DeviceIndex device) const {
  const CoreGrid* grid = grids_.of(device);
  if (!grid) return std::nullopt;
  return Kind{grid, catalog_.sets_of(device)};
}

// Last one first. Stamps are unique in one process; the rest makes the order total all the same.
const std::vector<Residency::Launch>& Residency::launches() const {
  if (launches_as_of_ == programs_.version()) return launches_;
  launches_.clear();
  for (const SlotIndex slot : programs_.programs()) {
    const ProgramRecord& program = *slots_.get<ProgramRecord>(slot);
    if (!program.loaded || program.held || !can_stand(program)) continue;
    const WorkloadRecord* workload = programs_.workload(program.workload);
    if (!workload || workload->launches.stamp == 0) continue;
    launches_.push_back({workload->launches.stamp, false, slot, program.set});
  }
  for (const SlotIndex slot : programs_.traces()) {
    const TraceRecord& trace = *slots_.get<TraceRecord>(slot);
    if (trace.launches.stamp == 0) continue;
    launches_.push_back({trace.launches.stamp, true, slot, trace.set});
  }
  std::sort(launches_.begin(), launches_.end(), [](const Launch& a, const Launch& b) {
    return std::tuple(b.stamp, a.is_trace, a.slot) < std::tuple(a.stamp, b.is_trace, b.slot);
  });
  launches_as_of_ = programs_.version();
  return launches_;
}

bool Residency::launched(DeviceIndex device) const {
  const auto& sets = catalog_.sets_of(device);
  return std::any_of(launches().begin(), launches().end(),
                     [&](const Launch& launch) { return in(sets, launch.set); });
}

const std::vector<Standing>* Residency::standing(DeviceIndex device) const {
  const auto key = kind(device);
  if (!key) return nullptr;
  const Moment now{programs_.version(), catalog_.version()};
  if (standing_as_of_ != now) standing_.clear();
  standing_as_of_ = now;
  const auto found = standing_.find(*key);
  if (found != standing_.end()) return &found->second;
  return &standing_.emplace(*key, Walk(*this, *key).run()).first->second;
}

const std::vector<std::vector<AddressRange>>* Residency::reserved(DeviceIndex device) const {
  const auto key = kind(device);
  if (!key) return nullptr;
  const Moment now{programs_.union_version(), catalog_.version()};
  if (reserved_as_of_ != now) reserved_.clear();
  reserved_as_of_ = now;
  const auto found = reserved_.find(*key);
  if (found != reserved_.end()) return &found->second;
  return &reserved_.emplace(*key, work_out_reserved(*key)).first->second;
}

std::vector<std::vector<AddressRange>> Residency::work_out_reserved(const Kind& kind) const {
  const CoreGrid& grid = *kind.first;
  std::vector<std::vector<AddressRange>> cores(grid.size());
  for (const SetIndex set : kind.second) {
    const ProgramTotals* totals = programs_.totals(set);
    if (!totals) continue;
    for (const auto& [id, group] : totals->ranges()) {
      const auto& ranges = group.placed.ranges();
      if (ranges.empty()) continue;
      for_each_bit(grid.mask(id), [&](std::size_t core) {
        // What comes before others has to move them.
        catalog_.effort().spend(ranges.size() * (cores[core].size() / 64 + 1));
        for (const AddressRange& range : ranges) merge_into(cores[core], range);
      });
    }
  }
  return cores;
}

}  // namespace ttmem::ledger
