// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "ledger/assemble.hpp"
#include "ledger/core_picture.hpp"
#include "ledger/effort_shares.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

bool same_chip(const DeviceRecord& record, const DeviceView& view) {
  return record.unique_id == view.unique_id && record.arch == view.arch && record.mock == view.mock;
}

bool counts(const ProcessView* process, DeviceIndex index) {
  if (process == nullptr) return true;
  const auto found = std::ranges::find(process->devices, index, &ProcessDeviceView::index);
  return found == process->devices.end() || found->counts();
}

Owner owner_of(const ProcessInput& process, const Snapshot& snapshot) {
  const ProcessView* view = snapshot.process(process.identity.key);
  return std::make_shared<const ProcessName>(view ? *view : process.identity);
}

void name_owner(const Owner& process, CoreLayers& core) {
  for (L1Layer& layer : core.layers) layer.owner = process;
  for (CoreKernel& kernel : core.view.kernels) kernel.owner = process;
  if (core.view.clash) core.view.clash->process = process;
}

// Adds what another process knows about the same core.
void append(CoreLayers& to, CoreLayers&& from) {
  if (to.frame.geometry.l1_bytes == 0) to.frame.geometry = from.frame.geometry;
  if (!to.frame.l1_small) to.frame.l1_small = from.frame.l1_small;
  to.layers.insert(to.layers.end(), std::make_move_iterator(from.layers.begin()),
                   std::make_move_iterator(from.layers.end()));
  CoreView& view = to.view;
  std::ranges::move(from.view.kernels, std::back_inserter(view.kernels));
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

void mark_failures(const ProcessView& process, ProgramView& program) {
  if (!program.launches) return;
  for (const FailureView& failure : process.failures) {
    if (failure.program == program.id) program.launches->mark(failure.time, kMarkFailure);
  }
}

}  // namespace

Naming naming_of(const ProcessInput& process, const Snapshot& snapshot) {
  Naming naming{.process = owner_of(process, snapshot), .to_time = process.to_time};
  naming.watch = process.watch;
  naming.device_ids.emplace();
  if (const ProcessView* view = snapshot.process(process.identity.key)) {
    for (const ProcessDeviceView& device : view->devices) {
      (*naming.device_ids)[device.index] = device.id;
    }
  }
  return naming;
}

void for_each_open(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                   const DeviceView& device,
                   const std::function<void(const ProcessInput&, DeviceIndex)>& visit) {
  TTMEM_CHECK(visit != nullptr);
  for (const ProcessInput& process : processes) {
    if (!process.ledger || !process.identity.alive) continue;
    const ProcessView* view = snapshot.process(process.identity.key);
    for (const DeviceIndex index : process.ledger->devices()) {
      const DeviceRecord& record = process.ledger->device(index);
      if (record.open && same_chip(record, device) && counts(view, index)) visit(process, index);
    }
  }
}

std::vector<CoreView> merge_cores(const std::vector<ProcessInput>& processes,
                                  const Snapshot& snapshot, const DeviceView& device, bool with_map,
                                  std::optional<Core> only) {
  std::vector<CoreLayers> cores;
  std::map<Core, std::size_t> places;
  EffortShares shares;
  for_each_open(processes, snapshot, device, [&](const ProcessInput& process, DeviceIndex index) {
    const Owner owner = owner_of(process, snapshot);
    std::vector<CoreLayers> own;
    shares.ask(process, [&] { own = process.ledger->core_layers(index, with_map); });
    for (CoreLayers& core : own) {
      if (only && core.frame.core.core != *only) continue;
      name_owner(owner, core);
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
  for (CoreLayers& core : cores) {
    views.push_back(paint(core, with_map));
    core.layers = {};  // not all twice at once
  }
  return views;
}

std::vector<CoreUse> merge_core_use(const std::vector<ProcessInput>& processes,
                                    const Snapshot& snapshot, const DeviceView& device) {
  std::vector<CoreUse> cores;
  EffortShares shares;
  for_each_open(processes, snapshot, device, [&](const ProcessInput& process, DeviceIndex index) {
    std::vector<CoreUse> own;
    shares.ask(process, [&] { own = process.ledger->core_use(index); });
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
  TTMEM_CHECK(visit != nullptr);
  EffortShares shares;
  for (const ProcessInput& process : processes) {
    if (!process.ledger) continue;
    shares.ask(process,
               [&] { process.ledger->for_each_holding(visit, naming_of(process, snapshot)); });
  }
}

std::vector<ProgramView> all_programs(const std::vector<ProcessInput>& processes,
                                      const Snapshot& snapshot, bool with_launches) {
  std::vector<ProgramView> all;
  EffortShares shares;
  for (const ProcessInput& process : processes) {
    if (!process.ledger || !process.identity.alive) continue;
    Naming naming = naming_of(process, snapshot);
    naming.with_launches = with_launches;
    const std::size_t before = all.size();
    shares.ask(process, [&] {
      std::ranges::move(process.ledger->programs(naming), std::back_inserter(all));
    });
    if (!with_launches) continue;
    for (std::size_t i = before; i < all.size(); ++i) mark_failures(process.identity, all[i]);
  }
  return all;
}

std::vector<RingView> all_rings(const std::vector<ProcessInput>& processes,
                                const Snapshot& snapshot, const DeviceView& device) {
  std::vector<RingView> all;
  EffortShares shares;
  for_each_open(processes, snapshot, device, [&](const ProcessInput& process, DeviceIndex index) {
    shares.ask(process, [&] {
      std::ranges::move(process.ledger->rings(index, naming_of(process, snapshot)),
                        std::back_inserter(all));
    });
  });
  return all;
}

}  // namespace ttmem::ledger
