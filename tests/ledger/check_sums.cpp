// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "check_sums.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "ledger/assemble.hpp"
#include "ledger/figure_table.hpp"
#include "ledger/origin_totals.hpp"

namespace ttmem::ledger {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a > kMost - b ? kMost : a + b; }

std::string check_figures(const DeviceFigures& figures) {
  for (const Space which : kDeviceSpaces) {
    const SpaceFigures& space = figures.space(which);
    const std::string_view what = name(which);
    if (space.occupied > space.taken) return fmt::format("{}: occupied above taken", what);
    if (space.peak && space.peak < space.taken) return fmt::format("{}: peak below taken", what);
    if (space.taken && !space.occupied) return fmt::format("{}: taken without occupied", what);
  }
  const Figure& l1 = figures.space(Space::kL1).taken;
  const Figure& resident = figures.program_l1.resident;
  const Figure used = figures.l1_used();
  const auto is_partial = [&](Space which) {
    return figures.space(which).requested.value_or(0) > figures.space(which).taken.value_or(0);
  };
  const bool whole = !is_partial(Space::kL1) && !is_partial(Space::kL1Small);
  if (used.has_value() != (l1 && resident && whole)) return "l1_used known without its parts";
  if (used) {
    const std::uint64_t small = figures.space(Space::kL1Small).taken.value_or(0);
    if (*used != plus(plus(*l1, small), *resident)) return "l1_used is not its parts";
  }
  if (figures.kernels.in_dram.value_or(0) > figures.space(Space::kDram).taken.value_or(kMost)) {
    return "kernels in DRAM above DRAM taken";
  }
  Figure by_core_type;
  for (const Figure& bytes : figures.kernels.by_core_type) {
    if (bytes) by_core_type = plus(by_core_type.value_or(0), *bytes);
  }
  if (by_core_type != figures.kernels.total().footprint) return "footprint by core type differs";
  for (const RingFigures& ring : figures.rings) {
    if (ring.used > ring.capacity || ring.high_water > ring.capacity) return "ring above capacity";
  }
  return "";
}

// The processes that are alive and believed on a device, as they see it.
std::vector<const DeviceFigures*> parts_of(const Snapshot& snapshot, const DeviceView& device) {
  std::vector<const DeviceFigures*> parts;
  for (const ProcessView& process : snapshot.processes) {
    if (!process.alive) continue;
    for (const ProcessDeviceView& view : process.devices) {
      if (view.id == device.id && view.counts()) parts.push_back(&view.figures);
    }
  }
  return parts;
}

std::string check_device(const Snapshot& snapshot, const DeviceView& device) {
  const auto parts = parts_of(snapshot, device);
  // The rules of the table of figures, worked out again.
  std::vector<Figure> merged;
  bool untold = false;
  for (const DeviceFigures* part : parts) {
    const ProgramL1Figures& program_l1 = part->program_l1;
    untold |= !program_l1.resident && program_l1.allocated.value_or(0) > 0;
    std::size_t i = 0;
    for_each_figure(
        [&](const FigureGroup&, const FigureRow& row, const Figure& figure) {
          merged.resize(std::max(merged.size(), i + 1));
          Figure& to = merged[i++];
          if (!figure) return;
          if (row.merge == Merge::kSum) to = plus(to.value_or(0), *figure);
          if (row.merge == Merge::kSmallest) to = std::min(to.value_or(kMost), *figure);
        },
        *part);
  }
  std::string wrong;
  std::size_t i = 0;
  for_each_figure(
      [&](const FigureGroup& group, const FigureRow& row, const Figure& figure) {
        Figure expected = parts.empty() ? Figure() : merged[i];
        if (untold && group.path == "program_l1" && row.name == "resident") expected.reset();
        ++i;
        if (row.merge == Merge::kLargest) return;  // the dead count, too
        const bool zero = parts.empty() && row.idle == Idle::kZero;
        if (figure == (zero ? Figure(0) : expected)) return;
        wrong = fmt::format("device {}: {}.{} does not follow from its processes", device.id,
                            group.path, row.name);
      },
      device.figures);
  if (!wrong.empty()) return wrong;
  std::optional<std::int64_t> room;
  for (const DeviceFigures* part : parts) {
    if (part->headroom.min)
      room = std::min(room.value_or(*part->headroom.min), *part->headroom.min);
  }
  if (device.figures.headroom.min != room) return "headroom is not the minimum";
  return check_figures(device.figures);
}

std::uint64_t sum_over(const std::vector<CoreView>& cores, std::uint64_t CoreView::* member) {
  std::uint64_t sum = 0;
  for (const CoreView& core : cores) sum = plus(sum, core.*member);
  return sum;
}

std::string check_core(const CoreView& core) {
  const std::string where = fmt::format("core {},{}: ", core.core.x, core.core.y);
  if (!core.l1_bytes) return "";
  const std::uint64_t sum = core.fixed + core.ring + core.program_l1 + core.gaps + core.free +
                            core.buffers + core.l1_small;
  if (sum != *core.l1_bytes) return where + fmt::format("parts are {} of {}", sum, *core.l1_bytes);
  std::uint64_t cursor = 0;
  for (const CoreStretch& stretch : core.map) {
    if (stretch.begin != cursor || stretch.end <= stretch.begin) return where + "map has a hole";
    cursor = stretch.end;
  }
  if (!core.map.empty() && cursor != *core.l1_bytes) return where + "map ends early";
  return "";
}

// What the ledgers of the living hold on a device, as one row.
OriginTotal held_on(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                    std::uint32_t id) {
  OriginTotal sum;
  for (const ProcessInput& process : processes) {
    if (!process.ledger || !process.identity.alive) continue;
    const ProcessView* view = snapshot.process(process.identity.key);
    for (const ProcessDeviceView& device :
         view ? view->devices : std::vector<ProcessDeviceView>()) {
      if (device.id != id || device.index == 0) continue;
      const DeviceFigures& figures = process.ledger->figures(device.index);
      for (const Space which : kDeviceSpaces) {
        OriginSpace& space = sum.space(which);
        space.buffers = plus(space.buffers, figures.space(which).count.value_or(0));
        space.taken = plus(space.taken.value_or(0), figures.space(which).taken.value_or(0));
      }
      sum.program_l1 = plus(sum.program_l1, figures.program_l1.allocated.value_or(0));
      sum.kernels = plus(sum.kernels, figures.kernels.total().footprint.value_or(0));
    }
  }
  return sum;
}

std::string check_origins(const std::vector<ProcessInput>& processes, const Snapshot& snapshot) {
  for (const DeviceView& device : snapshot.devices) {
    OriginTotal sum;
    for (const OriginTotal& row :
         totals_by_origin(processes, snapshot, {OriginBy::kStack, device.id, {}}).rows) {
      add_to(sum, row);
    }
    const OriginTotal held = held_on(processes, snapshot, device.id);
    for (const Space which : kDeviceSpaces) {
      if (sum.space(which).taken.value_or(0) != held.space(which).taken.value_or(0) ||
          sum.space(which).buffers != held.space(which).buffers) {
        return fmt::format("device {}: {} by origin is not what is held", device.id, name(which));
      }
    }
    if (sum.program_l1 != held.program_l1 || sum.kernels != held.kernels) {
      return fmt::format("device {}: programs by origin are not what is held", device.id);
    }
  }
  return "";
}

}  // namespace

std::string check_sums(const Snapshot& snapshot) {
  std::set<std::uint32_t> ids;
  for (const DeviceView& device : snapshot.devices) {
    if (!ids.insert(device.id).second) return "two devices have one id";
    if (std::string wrong = check_device(snapshot, device); !wrong.empty()) return wrong;
  }
  for (const ProcessView& process : snapshot.processes) {
    for (const ProcessDeviceView& device : process.devices) {
      if (!ids.contains(device.id)) return "a process has a device that is not in the document";
      if (std::string wrong = check_figures(device.figures); !wrong.empty()) {
        return fmt::format("process {}: {}", process.pid, wrong);
      }
    }
  }
  return "";
}

std::string check_cores(const DeviceFigures& figures, const std::vector<CoreView>& cores,
                        bool exact) {
  for (const CoreView& core : cores) {
    if (std::string wrong = check_core(core); !wrong.empty()) return wrong;
  }
  const auto differs = [&](const char* what, std::uint64_t CoreView::* member,
                           const Figure& figure) {
    const std::uint64_t sum = sum_over(cores, member);
    return figure && sum != *figure
               ? fmt::format("{}: {} over cores, {} of the device", what, sum, *figure)
               : std::string();
  };
  if (cores.empty()) return "";
  std::string wrong = differs("resident", &CoreView::program_l1, figures.program_l1.resident);
  if (wrong.empty()) wrong = differs("reserved", &CoreView::reserved, figures.program_l1.reserved);
  if (!wrong.empty() || !exact) return wrong;
  const SpaceFigures& l1 = figures.space(Space::kL1);
  const SpaceFigures& small = figures.space(Space::kL1Small);
  for (const std::string& each :
       {differs("L1 taken", &CoreView::buffers, l1.taken),
        differs("L1 occupied", &CoreView::buffers_occupied, l1.occupied),
        differs("L1_SMALL taken", &CoreView::l1_small_taken, small.taken),
        differs("L1_SMALL occupied", &CoreView::l1_small_occupied, small.occupied),
        differs("footprint", &CoreView::kernel_footprint, figures.kernels.total().footprint)}) {
    if (!each.empty()) return each;
  }
  return "";
}

namespace {

// The cheap answer says what the full one says.
std::string check_use(const ProcessLedger& ledger, DeviceIndex device) {
  std::map<Core, const CoreView*> known;
  const std::vector<CoreView> cores = ledger.cores(device, false);
  for (const CoreView& core : cores) known[core.core] = &core;
  for (const CoreUse& use : ledger.core_use(device)) {
    const CoreView& core = *known.at(use.core);
    const std::uint64_t used = core.program_l1 + core.buffers + core.l1_small_taken;
    if (use.used != used) return fmt::format("used: {} in short, {} in full", use.used, used);
  }
  return "";
}

// One bank times all of them is the figure of the device, if one process alone fills it.
std::string check_banks(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                        const DeviceView& device) {
  if (device.processes != 1 || device.figures.basis != Basis::kBlocks) return "";
  for (const BankMap& map : bank_maps(processes, snapshot, device)) {
    const SpaceFigures& space = device.figures.space(map.space);
    const std::uint64_t taken = (map.end - map.begin - map.free_bytes) * map.banks;
    if (space.taken != taken && !map.truncated) {
      return fmt::format("{} taken: {} by the map", space.taken.value_or(0), taken);
    }
    const std::uint64_t largest = map.free.empty() ? 0 : map.free[0].end - map.free[0].begin;
    if (space.largest_free != largest) return fmt::format("largest free {} by the map", largest);
  }
  return "";
}

}  // namespace

std::string check_everything(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                             bool exact) {
  std::string wrong = check_sums(snapshot);
  if (wrong.empty()) wrong = check_origins(processes, snapshot);
  for (const ProcessInput& process : processes) {
    if (!wrong.empty() || !process.ledger) continue;
    for (const DeviceIndex device : process.ledger->devices()) {
      if (wrong.empty()) {
        wrong = check_cores(process.ledger->figures(device), process.ledger->cores(device, true),
                            exact);
      }
      if (wrong.empty() && exact) wrong = check_use(*process.ledger, device);
    }
  }
  for (const DeviceView& device : snapshot.devices) {
    for (const CoreView& core : merge_cores(processes, snapshot, device, true)) {
      if (wrong.empty()) wrong = check_core(core);
    }
    if (wrong.empty() && exact) wrong = check_banks(processes, snapshot, device);
  }
  return wrong;
}

}  // namespace ttmem::ledger
