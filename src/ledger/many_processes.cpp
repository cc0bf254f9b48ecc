// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <map>
#include <utility>

#include "ledger/assemble.hpp"
#include "ledger/core_picture.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

constexpr double kNsPerSecond = 1e9;

bool same_chip(const DeviceRecord& record, const DeviceView& view) {
  return record.unique_id == view.unique_id && record.arch == view.arch && record.mock == view.mock;
}

TimeNs time_of(const ProcessInput& process, Ticks ticks) {
  if (ticks == 0) return 0;
  return process.to_time ? process.to_time(ticks) : ticks;
}

// From the numbers of a process to those of the document.
using Ids = std::map<std::uint32_t, std::uint32_t>;

Ids ids_of(const ProcessInput& process, const Snapshot& snapshot) {
  Ids ids;
  for (const ProcessView& view : snapshot.processes) {
    if (view.key != process.identity.key || view.pid != process.identity.pid) continue;
    for (const ProcessDeviceView& device : view.devices) ids[device.index] = device.id;
  }
  return ids;
}

std::vector<std::uint32_t> renumbered(const std::vector<std::uint32_t>& devices, const Ids& ids) {
  std::vector<std::uint32_t> result;
  for (const std::uint32_t device : devices) {
    const auto found = ids.find(device);
    if (found != ids.end()) result.push_back(found->second);
  }
  std::sort(result.begin(), result.end());
  return result;
}

double rate(const ProgramView& view) {
  if (view.dispatches < 2 || view.last_dispatch <= view.first_dispatch) return 0;
  const auto seconds = static_cast<double>(view.last_dispatch - view.first_dispatch) / kNsPerSecond;
  return static_cast<double>(view.dispatches - 1) / seconds;
}

void name_owner(const ProcessView& process, CoreLayers& core) {
  for (L1Layer& layer : core.layers) {
    layer.owner = process.name;
    layer.pid = process.pid;
  }
  if (!core.view.clash) return;
  core.view.clash->owner = process.name;
  core.view.clash->pid = process.pid;
}

// Adds what another process knows about the same core.
void append(CoreLayers& to, CoreLayers&& from) {
  if (to.frame.geometry.l1_bytes == 0) to.frame.geometry = from.frame.geometry;
  if (!to.frame.l1_small) to.frame.l1_small = from.frame.l1_small;
  to.layers.insert(to.layers.end(), std::make_move_iterator(from.layers.begin()),
                   std::make_move_iterator(from.layers.end()));
  CoreView& view = to.view;
  view.buffers_occupied = add(view.buffers_occupied, from.view.buffers_occupied);
  view.l1_small_taken = add(view.l1_small_taken, from.view.l1_small_taken);
  view.l1_small_occupied = add(view.l1_small_occupied, from.view.l1_small_occupied);
  view.reserved = add(view.reserved, from.view.reserved);
  view.kernel_footprint = add(view.kernel_footprint, from.view.kernel_footprint);
  if (from.view.headroom && (!view.headroom || *from.view.headroom < *view.headroom)) {
    view.clash = from.view.clash;
  }
  lower(view.headroom, from.view.headroom);
  lower(view.headroom_reserved, from.view.headroom_reserved);
}

}  // namespace

void for_each_open(const std::vector<ProcessInput>& processes, const DeviceView& device,
                   const std::function<void(const ProcessInput&, DeviceIndex)>& visit) {
  for (const ProcessInput& process : processes) {
    if (!process.ledger || !process.identity.alive) continue;
    for (const DeviceIndex index : process.ledger->devices()) {
      const DeviceRecord& record = process.ledger->device(index);
      if (record.open && same_chip(record, device)) visit(process, index);
    }
  }
}

std::vector<CoreView> merge_cores(const std::vector<ProcessInput>& processes,
                                  const DeviceView& device, bool with_map,
                                  std::optional<Core> only) {
  std::vector<CoreLayers> cores;
  std::map<Core, std::size_t> places;
  for_each_open(processes, device, [&](const ProcessInput& process, DeviceIndex index) {
    for (CoreLayers& core : process.ledger->core_layers(index, with_map)) {
      if (only && core.frame.core.core != *only) continue;
      name_owner(process.identity, core);
      const auto [place, is_new] = places.try_emplace(core.frame.core.core, cores.size());
      if (is_new) {
        cores.push_back(std::move(core));
      } else {
        append(cores[place->second], std::move(core));
      }
    }
  });
  std::vector<CoreView> views;
  views.reserve(cores.size());
  for (const CoreLayers& core : cores) views.push_back(paint(core, with_map));
  return views;
}

std::vector<CoreUse> merge_core_use(const std::vector<ProcessInput>& processes,
                                    const DeviceView& device) {
  std::vector<CoreUse> cores;
  for_each_open(processes, device, [&](const ProcessInput& process, DeviceIndex index) {
    const std::vector<CoreUse> own = process.ledger->core_use(index);
    for (std::size_t i = 0; i < own.size(); ++i) {
      // All processes list them in the same order, unless they dispatch from other cores.
      auto place = i < cores.size() && cores[i].core == own[i].core
                       ? cores.begin() + static_cast<std::ptrdiff_t>(i)
                       : std::ranges::find(cores, own[i].core, &CoreUse::core);
      if (place == cores.end()) {
        cores.push_back(own[i]);
      } else {
        place->used = add(place->used, own[i].used);
      }
    }
  });
  return cores;
}

void for_each_holding(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                      const std::function<void(const HoldingView&)>& visit) {
  for (const ProcessInput& process : processes) {
    if (!process.ledger) continue;
    const Ids ids = ids_of(process, snapshot);
    process.ledger->for_each_holding([&](const HoldingView& holding) {
      HoldingView view = holding;
      view.pid = process.identity.pid;
      view.process = process.identity.name;
      view.alive = process.identity.alive;
      view.devices = renumbered(view.devices, ids);
      view.since = time_of(process, view.since);
      view.first_dispatch = time_of(process, view.first_dispatch);
      view.last_dispatch = time_of(process, view.last_dispatch);
      visit(view);
    });
  }
}

std::vector<ProgramView> all_programs(const std::vector<ProcessInput>& processes,
                                      const Snapshot& snapshot) {
  std::vector<ProgramView> all;
  for (const ProcessInput& process : processes) {
    if (!process.ledger || !process.identity.alive) continue;
    const Ids ids = ids_of(process, snapshot);
    for (ProgramView& view : process.ledger->programs()) {
      view.pid = process.identity.pid;
      view.process = process.identity.name;
      view.devices = renumbered(view.devices, ids);
      view.registered = time_of(process, view.registered);
      view.first_dispatch = time_of(process, view.first_dispatch);
      view.last_dispatch = time_of(process, view.last_dispatch);
      view.dispatches_per_second = rate(view);
      all.push_back(std::move(view));
    }
  }
  return all;
}

}  // namespace ttmem::ledger
