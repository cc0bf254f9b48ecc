// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/origin_totals.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/assert.hpp"
#include "base/number_order.hpp"
#include "ledger/catalog.hpp"
#include "ledger/origin_peaks.hpp"
#include "ledger/origin_shares.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

constexpr TimeNs kRecentlyMadeNs = 60'000'000'000;

using Path = std::vector<std::string>;

Path one_step(std::string_view text) { return text.empty() ? Path() : Path{std::string(text)}; }

std::string_view file_of(const Catalog& names, OriginId origin) {
  const Origins::Node* node = names.origins().node(origin);
  const Origins::Node* said = node ? names.origins().node(node->line) : nullptr;
  const OriginFrame* frame = said ? names.origins().frame(said->step.frame) : nullptr;
  return frame ? std::string_view(frame->file) : std::string_view();
}

Path path_of(const Catalog& names, OriginId origin, StringId name, OriginBy by) {
  switch (by) {
    case OriginBy::kLine:
      return one_step(names.line_of(origin));
    case OriginBy::kFile:
      return one_step(file_of(names, origin));
    case OriginBy::kOperation: {
      const std::string_view said = names.operation_of(origin);
      return one_step(said.empty() ? names.string(name) : said);
    }
    case OriginBy::kRegion:
      return one_step(names.regions_of(origin));
    case OriginBy::kStack:
      break;
  }
  const Stack stack = names.stack_of(origin);
  return stack ? *stack : Path();
}

// Of one process, which of its devices are asked for.
class Chosen {
 public:
  Chosen(const ProcessInput& process, const Snapshot& snapshot,
         const std::optional<std::uint32_t>& device)
      : ledger_(*process.ledger) {
    const ProcessView* view = snapshot.process(process.identity.key);
    if (!view) return;
    for (const ProcessDeviceView& each : view->devices) {
      if (each.index != 0 && (!device || each.id == *device)) devices_.push_back(each.index);
    }
  }

  const std::vector<DeviceIndex>& devices() const { return devices_; }

  struct Count {
    std::uint32_t devices = 0, open = 0;
  };
  // How many of them are in the set.
  Count in(SetIndex set) {
    const auto [found, is_new] = counts_.try_emplace(set);
    if (!is_new) return found->second;
    for (const DeviceIndex member : ledger_.catalog().devices_in(set)) {
      if (std::ranges::find(devices_, member) == devices_.end()) continue;
      ++found->second.devices;
      found->second.open += ledger_.catalog().is_open(member);
    }
    return found->second;
  }

 private:
  const ProcessLedger& ledger_;
  std::vector<DeviceIndex> devices_;
  std::unordered_map<SetIndex, Count> counts_;
};

void add_owner(OriginTotal& row, const Owner& owner) {
  const auto name = [](const Owner& one) { return std::tie(one->pid, one->start, one->segment); };
  TTMEM_CHECK(owner != nullptr);
  const auto place = std::ranges::lower_bound(row.processes, name(owner), {}, name);
  if (place == row.processes.end() || !(*place)->is(*owner)) row.processes.insert(place, owner);
}

class Rows {
 public:
  explicit Rows(const OriginQuestion& question, const Snapshot& snapshot)
      : question_(question), snapshot_(snapshot) {}

  void add(const ProcessInput& process) {
    const TimeNs now = snapshot_.time;
    const TimeNs recent_from = now > kRecentlyMadeNs ? now - kRecentlyMadeNs : 0;
    Chosen chosen(process, snapshot_, question_.device);
    owner_ = naming_of(process, snapshot_).process;
    AtPeaks at_peaks(process.peaks ? process.peaks() : PeakRecords{}, process.ledger->catalog(),
                     chosen.devices());
    places_.clear();
    process.ledger->for_each_share([&](const OriginShare& share) {
      const Chosen::Count on = chosen.in(share.set);
      if (on.devices == 0) return;
      OriginTotal& row = row_of(process, share.origin, share.name);
      if (share.space) row.derived |= is_derived(process, share.origin, share.name);
      const TimeNs since = time_of(process, share.since);
      count(row, share, on, since >= recent_from);
      if (share.space) add_to(row.space(*share.space).at_peak, at_peaks.of_live(share));
    });
    at_peaks.for_each_released([&](const ReleasedShare& share, std::uint64_t bytes) {
      OriginTotal& row = row_of(process, share.origin, share.name);
      row.derived |= is_derived(process, share.origin, share.name);
      add_to(row.space(share.space).at_peak, bytes);
    });
    add_peaks(process, at_peaks);
  }

  OriginTotals in_order() {
    know_zeros();
    std::ranges::stable_sort(rows_, [](const OriginTotal& a, const OriginTotal& b) {
      if (a.weight() != b.weight()) return a.weight() > b.weight();
      return std::ranges::lexicographical_compare(a.path, b.path, NumberOrder());
    });
    return {std::move(rows_), std::move(peaks_)};
  }

 private:
  // Where the rows tell all of a peak, those without a share of it held nothing.
  void know_zeros() {
    std::map<std::pair<const ProcessName*, Space>, bool> whole;
    for (const OriginPeak& peak : peaks_) {
      const bool is_whole = peak.in_rows == peak.bytes;
      const auto [known, is_new] = whole.try_emplace({peak.process.get(), peak.space}, is_whole);
      known->second = known->second && is_whole;
    }
    for (OriginTotal& row : rows_) {
      for (const Space which : kDeviceSpaces) {
        if (row.space(which).at_peak) continue;
        const bool known = std::ranges::all_of(row.processes, [&](const Owner& owner) {
          const auto found = whole.find({owner.get(), which});
          return found != whole.end() && found->second;
        });
        if (known) row.space(which).at_peak = 0;
      }
    }
  }

  static TimeNs time_of(const ProcessInput& process, Ticks ticks) {
    return process.to_time ? process.to_time(ticks) : ticks;
  }

  bool is_derived(const ProcessInput& process, OriginId origin, StringId name) const {
    return question_.by == OriginBy::kOperation &&
           process.ledger->catalog().is_derived(origin, name);
  }

  OriginTotal& row_of(const ProcessInput& process, OriginId origin, StringId name) {
    const auto [place, is_new] = places_.try_emplace(std::uint64_t{origin} << 32 | name, 0);
    if (is_new) {
      place->second =
          place_of(path_of(process.ledger->catalog(), origin, name, question_.by), owner_);
    }
    return rows_[place->second];
  }

  void add_peaks(const ProcessInput& process, const AtPeaks& at_peaks) {
    const ProcessView* view = snapshot_.process(process.identity.key);
    if (!view) return;
    at_peaks.for_each_moment([&](const std::vector<DeviceIndex>& devices, Space space,
                                 const PeakMoment& moment, std::uint64_t told) {
      OriginPeak peak{owner_, {}, space, time_of(process, moment.ticks), moment.bytes, told};
      for (const ProcessDeviceView& device : view->devices) {
        if (std::ranges::find(devices, device.index) != devices.end()) {
          peak.devices.push_back(device.id);
        }
      }
      peaks_.push_back(std::move(peak));
    });
  }

  std::size_t place_of(Path path, const Owner& owner) {
    const auto [found, is_new] = by_path_.try_emplace(std::move(path), rows_.size());
    if (is_new) rows_.emplace_back().path = found->first;
    add_owner(rows_[found->second], owner);
    return found->second;
  }

  // No kernel is on a device that was closed.
  static void count(OriginTotal& row, const OriginShare& share, const Chosen::Count& on,
                    bool is_recent) {
    if (!share.space) {
      row.programs = ledger::add(row.programs, on.devices);
      row.program_l1 = ledger::add(row.program_l1, times(share.program_l1, on.devices));
      row.kernels = ledger::add(row.kernels, times(share.kernels, on.open));
      return;
    }
    OriginSpace& space = row.space(*share.space);
    space.buffers = ledger::add(space.buffers, on.devices);
    if (!share.taken) return;
    const std::uint64_t taken = times(*share.taken, on.devices);
    ledger::add_to(space.taken, taken);
    ledger::add_to(space.recent, is_recent ? taken : 0);
  }

  const OriginQuestion& question_;
  const Snapshot& snapshot_;
  std::vector<OriginTotal> rows_;
  std::vector<OriginPeak> peaks_;
  std::map<Path, std::size_t> by_path_;
  Owner owner_;                                            // of the process that is being added
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of that process, by origin and name
};

}  // namespace

std::uint64_t OriginTotal::taken() const {
  std::uint64_t sum = 0;
  for (const Space which : kDeviceSpaces) sum = add(sum, space(which).taken.value_or(0));
  return sum;
}

std::uint64_t OriginTotal::at_peak() const {
  std::uint64_t sum = 0;
  for (const Space which : kDeviceSpaces) sum = add(sum, space(which).at_peak.value_or(0));
  return sum;
}

void add_to(OriginTotal& sum, const OriginTotal& part) {
  for (const Owner& owner : part.processes) add_owner(sum, owner);
  for (const Space which : kDeviceSpaces) {
    OriginSpace& space = sum.space(which);
    add_to(space.taken, part.space(which).taken);
    add_to(space.recent, part.space(which).recent);
    add_to(space.at_peak, part.space(which).at_peak);
    space.buffers = add(space.buffers, part.space(which).buffers);
  }
  sum.programs = add(sum.programs, part.programs);
  sum.program_l1 = add(sum.program_l1, part.program_l1);
  sum.kernels = add(sum.kernels, part.kernels);
}

OriginTotals totals_by_origin(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                              const OriginQuestion& question) {
  Rows rows(question, snapshot);
  for (const ProcessInput& process : processes) {
    const ProcessView& view = process.identity;
    const bool is_asked_for = question.of ? question.of(view) : view.alive;
    if (process.ledger && is_asked_for) rows.add(process);
  }
  return rows.in_order();
}

}  // namespace ttmem::ledger
