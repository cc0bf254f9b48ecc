// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/assemble.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/assert.hpp"
#include "ledger/catalog.hpp"
#include "ledger/figures.hpp"
#include "ledger/geometry.hpp"
#include "ledger/saturating.hpp"
#include "ledger/untold.hpp"

namespace ttmem::ledger {
namespace {

// What makes two records the same chip.
using Chip = std::tuple<std::uint64_t, Arch, bool>;

struct Contribution {
  std::size_t process;  // in the snapshot
  std::size_t device;   // in its list of devices
  const ProcessInput* input;
  const DeviceRecord* record;  // null: known from outside
};

// Whose word for a number counts more, the smaller first: of those who speak for others; of the
// living, by the kernel's word for how long their user has had processes here.
struct Rank {
  bool untrusted = true, dead = true;
  std::uint64_t since = kMost;
  auto operator<=>(const Rank&) const = default;
};

struct ChipEntry {
  DeviceView view;
  std::optional<std::int32_t> metal_id;
  Rank rank;
  std::vector<Contribution> contributions;
};

using Chips = std::map<Chip, ChipEntry>;

// A document of the same processes is the same, in whatever order their files were found.
bool in_order(const ProcessView& a, const ProcessView& b) {
  return std::tuple(!a.alive, a.pid, a.start, a.key) < std::tuple(!b.alive, b.pid, b.start, b.key);
}

// Geometry comes from the first process that knows it.
void describe(DeviceView& view, const DeviceRecord& record) {
  view.unique_id = record.unique_id;
  view.arch = record.arch;
  view.mock = record.mock;
  if (view.board.empty()) view.board = record.board;
  if (view.grid_x == 0) {
    view.grid_x = record.grid_x;
    view.grid_y = record.grid_y;
  }
  if (view.tensix_cores == 0) {
    for (const CoreRecord& core : cores_of(record)) {
      view.tensix_cores += core.role == Role::kWorker;
      view.dispatch_cores += core.role == Role::kDispatch;
      view.eth_cores += core.role == Role::kActiveEth || core.role == Role::kIdleEth;
    }
  }
  const std::uint32_t l1 = geometry_of(record, CoreType::kTensix).l1_bytes;
  if (!view.l1_bytes_per_core && l1 != 0) view.l1_bytes_per_core = l1;
  if (!view.dram_banks && record.dram_banks != 0) view.dram_banks = record.dram_banks;
}

// The region knows what was asked for, not the blocks that hold it: `taken` stays unknown.
DeviceFigures outside_figures(const OutsideTotals& totals) {
  DeviceFigures figures;
  for (std::size_t space = 0; space < kSpaces; ++space) {
    figures.spaces[space].requested = totals.requested[space];
  }
  figures.program_l1.reserved = totals.program_l1_reserved;
  figures.basis = Basis::kRequested;
  return figures;
}

void add_known(const ProcessInput& input, std::size_t index, bool totals_only, ProcessView& process,
               Chips& chips) {
  process.tracking.dangling = input.ledger->dangling();
  for (const DeviceIndex i : input.ledger->devices()) {
    const DeviceRecord& record = input.ledger->device(i);
    ChipEntry& chip = chips[{record.unique_id, record.arch, record.mock}];
    chip.contributions.push_back({index, process.devices.size(), &input, &record});
    ProcessDeviceView view;
    view.index = i;
    view.unique_id = record.unique_id;
    view.metal_id = record.metal_id;
    view.open = record.open;
    view.in_mesh = input.ledger->in_mesh(i);
    view.figures = input.ledger->figures(i, totals_only);
    view.figures.kernels.stand_in = process.stand_in_kernels;
    process.devices.push_back(std::move(view));
  }
}

// The upstream region knows a chip by its unique id alone.
void add_outside(const ProcessInput& input, std::size_t index, ProcessView& process, Chips& chips) {
  for (const OutsideTotals& totals : input.outside) {
    const auto same = [&](const auto& device) { return device.unique_id == totals.unique_id; };
    if (std::any_of(process.devices.begin(), process.devices.end(), same)) continue;
    auto chip = chips.lower_bound({totals.unique_id, Arch::kUnknown, false});
    if (chip == chips.end() || std::get<0>(chip->first) != totals.unique_id) {
      chip = chips.try_emplace({totals.unique_id, Arch::kUnknown, false}).first;
      chip->second.view.unique_id = totals.unique_id;
    }
    chip->second.contributions.push_back({index, process.devices.size(), &input, nullptr});
    ProcessDeviceView view;
    view.unique_id = totals.unique_id;
    view.open = true;
    view.figures = outside_figures(totals);
    process.devices.push_back(std::move(view));
  }
}

// What is believed of a chip, and who contradicts it.
void decide(ChipEntry& chip, std::vector<ProcessView>& processes) {
  std::vector<Claim> claims;
  claims.reserve(chip.contributions.size());
  for (const Contribution& each : chip.contributions) {
    const ProcessView& process = processes[each.process];
    Claim& claim = claims.emplace_back(claim_of(each.record, process.devices[each.device].figures));
    claim.trusted = each.input->trusted;
    claim.is_false = each.input->is_false_claim;
    claim.alive = process.alive;
    claim.owner = process.uid;
    claim.start = each.input->start_is_known ? process.start : kMost;
  }
  const Verdict verdict = judge(claims);
  const auto tell = [&](const DeviceRecord* record) {
    if (record == nullptr) return;
    describe(chip.view, *record);
    if (!chip.metal_id) chip.metal_id = record->metal_id;
  };
  tell(chip.contributions[verdict.believed].record);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Contribution& each = chip.contributions[i];
    processes[each.process].devices[each.device].contradiction = verdict.contradictions[i];
    if (verdict.contradictions[i] == Contradiction::kNone) tell(each.record);
  }
}

Rank rank_of(const Contribution& each, const ProcessView& process,
             const std::map<std::uint32_t, std::uint64_t>& since) {
  if (!process.devices[each.device].counts()) return {};
  if (each.input->trusted) return {.untrusted = false, .dead = false, .since = 0};
  if (!process.alive) return {};
  const auto known = since.find(process.uid);
  return {.untrusted = true, .dead = false, .since = known == since.end() ? kMost : known->second};
}

// One user's chips have one rank, so that their numbers do not change with each process.
void rank_all(Chips& chips, const std::vector<ProcessView>& processes) {
  std::map<std::uint32_t, std::uint64_t> since;
  for (const auto& [key, chip] : chips) {
    for (const Contribution& each : chip.contributions) {
      const ProcessView& process = processes[each.process];
      if (!process.alive || !each.input->start_is_known || each.input->is_false_claim) continue;
      const auto [known, added] = since.try_emplace(process.uid, process.start);
      if (!added) known->second = std::min(known->second, process.start);
    }
  }
  for (auto& [key, chip] : chips) {
    for (const Contribution& each : chip.contributions) {
      chip.rank = std::min(chip.rank, rank_of(each, processes[each.process], since));
    }
  }
}

// A chip keeps the number that the runtime gave it. If two claim one, it belongs to the one of
// better rank, and the other gets the next free.
void number(Chips& chips) {
  std::vector<ChipEntry*> ordered;
  for (auto& [key, chip] : chips) ordered.push_back(&chip);
  std::ranges::stable_sort(ordered, {}, &ChipEntry::rank);
  std::set<std::uint32_t> taken;
  std::vector<ChipEntry*> others;
  for (ChipEntry* chip : ordered) {
    const bool known = chip->metal_id && *chip->metal_id >= 0;
    if (known && taken.insert(static_cast<std::uint32_t>(*chip->metal_id)).second) {
      chip->view.id = static_cast<std::uint32_t>(*chip->metal_id);
    } else {
      others.push_back(chip);
    }
  }
  std::uint32_t next = 0;
  for (ChipEntry* chip : others) {
    while (!taken.insert(next).second) ++next;
    chip->view.id = next;
  }
}

// Needs the numbers of the document.
void add_meshes(const ProcessInput& input, ProcessView& process) {
  for (const DeviceSetRecord* set : input.ledger->meshes()) {
    MeshView mesh{set->rows, set->columns, {}};
    for (const DeviceIndex index : set->devices) {
      const auto found = std::ranges::find(process.devices, index, &ProcessDeviceView::index);
      if (found != process.devices.end()) mesh.devices.push_back(found->id);
    }
    if (mesh.devices.size() == set->devices.size()) process.meshes.push_back(std::move(mesh));
  }
}

void sum_up(ChipEntry& chip, std::vector<ProcessView>& processes, PeakMemory& peaks) {
  DeviceSum sum;
  std::size_t counted = 0;
  bool untold = false;
  for (const Contribution& each : chip.contributions) {
    const ProcessView& process = processes[each.process];
    ProcessDeviceView& view = processes[each.process].devices[each.device];
    view.id = chip.view.id;
    if (!view.counts()) continue;
    ++counted;
    sum.add(view.figures, process.alive);
    untold |= process.alive && has_untold_launches(view.figures);
    chip.view.processes += process.alive && view.open;
  }
  // Several processes have not had their peaks at one moment: only the peak of one alone is exact.
  chip.view.figures = sum.result(counted == 1);
  if (untold) chip.view.figures.program_l1.resident.reset();
  peaks.observe(chip.view);
}

}  // namespace

void PeakMemory::observe(DeviceView& device) {
  const auto kind = static_cast<std::uint32_t>(device.arch) << 1 | (device.mock ? 1u : 0u);
  Peaks& known = peaks_[{device.unique_id, kind}];
  known.seen = look_;
  auto& peaks = known.bytes;
  const bool exact = device.figures.peak_basis == PeakBasis::kExact;
  for_each_peak(
      [&](std::size_t i, const Figure& now, Figure& peak) {
        peaks[i] = std::max({peaks[i], now.value_or(0), peak.value_or(0)});
        if (!exact && now) peak = peaks[i];
      },
      device.figures);
}

void PeakMemory::end_look() {
  constexpr std::size_t kMostChips = 1024;
  if (peaks_.size() > kMostChips) {
    std::erase_if(peaks_, [this](const auto& entry) { return entry.second.seen != look_; });
  }
  ++look_;
}

Snapshot assemble(const std::vector<ProcessInput>& processes, PeakMemory& peaks, bool totals_only) {
  std::vector<const ProcessInput*> inputs;
  for (const ProcessInput& input : processes) inputs.push_back(&input);
  std::sort(inputs.begin(), inputs.end(), [](const ProcessInput* a, const ProcessInput* b) {
    return in_order(a->identity, b->identity);
  });
  Snapshot snapshot;
  Chips chips;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    snapshot.processes.push_back(inputs[i]->identity);
    snapshot.processes.back().devices.clear();
    snapshot.processes.back().meshes.clear();
    if (inputs[i]->ledger) {
      add_known(*inputs[i], i, totals_only, snapshot.processes.back(), chips);
    }
  }
  // Only now, as a chip of the region joins the one that a process has told more about.
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    add_outside(*inputs[i], i, snapshot.processes[i], chips);
  }
  distinguish(snapshot.processes);
  for (auto& [key, chip] : chips) decide(chip, snapshot.processes);
  rank_all(chips, snapshot.processes);
  number(chips);
  for (auto& [key, chip] : chips) {
    sum_up(chip, snapshot.processes, peaks);
    snapshot.devices.push_back(std::move(chip.view));
  }
  peaks.end_look();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ProcessView& process = snapshot.processes[i];
    if (inputs[i]->ledger) add_meshes(*inputs[i], process);
    // A process may open them in any order.
    std::ranges::stable_sort(process.devices, {}, &ProcessDeviceView::id);
  }
  std::sort(snapshot.devices.begin(), snapshot.devices.end(),
            [](const DeviceView& a, const DeviceView& b) { return a.id < b.id; });
  // A document names a device by its id alone.
  TTMEM_DCHECK(std::ranges::adjacent_find(snapshot.devices, {}, &DeviceView::id) ==
               snapshot.devices.end());
  return snapshot;
}

}  // namespace ttmem::ledger
