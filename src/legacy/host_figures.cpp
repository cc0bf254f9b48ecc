// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <limits>

#include "legacy/service.hpp"

namespace ttmem::legacy {
namespace {

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

void add(const ledger::DeviceFigures& figures, Tally& tally) {
  for (std::size_t space = 0; space < ledger::kSpaces; ++space) {
    tally.bytes[space] += figures.spaces[space].requested.value_or(0);
    tally.buffers += figures.spaces[space].count.value_or(0);
  }
  const ledger::ProgramL1Figures& program_l1 = figures.program_l1;
  tally.cb_bytes += program_l1.allocated.value_or(program_l1.reserved.value_or(0));
  tally.cbs += program_l1.count.value_or(0);
  for (std::size_t type = 0; type < ledger::kKernelTypes; ++type) {
    tally.kernel_bytes[type] += figures.kernels.by_type[type].footprint.value_or(0);
    tally.kernels[type] += figures.kernels.by_type[type].count.value_or(0);
  }
  // The original counted guesses like everything else.
  tally.kernel_bytes[0] += figures.kernels.estimated.footprint.value_or(0);
  tally.kernels[0] += figures.kernels.estimated.count.value_or(0);
}

HostDevice described(const ledger::DeviceView& view) {
  HostDevice device;
  device.chip = {view.unique_id, static_cast<std::uint32_t>(view.arch), view.mock};
  device.total_dram = view.figures.space(ledger::Space::kDram).capacity.value_or(0);
  device.dram_channels = view.dram_banks.value_or(0);
  device.l1_bytes_per_core = view.l1_bytes_per_core.value_or(0);
  // Bytes of the cores that can be used; the original multiplied by the whole network grid.
  device.total_l1 = std::uint64_t{device.l1_bytes_per_core} * view.tensix_cores;
  if (const auto nominal = view.nominal()) {
    device.total_dram = nominal->dram_bytes;
    device.dram_channels = nominal->dram_channels;
    device.l1_bytes_per_core = nominal->l1_bytes_per_core;
    device.total_l1 = nominal->l1_bytes();
  }
  if (const ledger::RingFigures* ring = ledger::fullest_worker_ring(view.figures.rings)) {
    device.ring_capacity = static_cast<std::uint32_t>(ring->capacity);
    device.ring_used = static_cast<std::uint32_t>(ring->used);
    device.ring_programs = static_cast<std::uint32_t>(ring->programs);
  }
  return device;
}

// A chip that only clients of this protocol named keeps the number they gave it.
std::int32_t number_of(std::uint64_t unique_id, std::uint32_t id) {
  return static_cast<std::int32_t>(collect::number_of_chip(unique_id).value_or(id));
}

}  // namespace

HostFigures host_figures(const ledger::Snapshot& snapshot,
                         const std::function<bool(const ledger::ProcessView&)>& is_client) {
  HostFigures figures;
  for (const ledger::DeviceView& view : snapshot.devices) {
    figures.try_emplace(number_of(view.unique_id, view.id), described(view));
  }
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (!process.alive || is_client(process)) continue;
    for (const ledger::ProcessDeviceView& device : process.devices) {
      add(device.figures, figures[number_of(device.unique_id, device.id)].tally);
    }
  }
  return figures;
}

void describe(const HostDevice& device, Answer& answer) {
  answer.available = 1;
  answer.arch = device.chip.arch;
  answer.total_dram = device.total_dram;
  answer.total_l1 = device.total_l1;
  answer.dram_channels = device.dram_channels;
  answer.dram_bytes_per_channel =
      device.dram_channels == 0 ? 0 : narrow(device.total_dram / device.dram_channels);
  answer.l1_bytes_per_core = device.l1_bytes_per_core;
  answer.ring_capacity = device.ring_capacity;
  answer.ring_used = device.ring_used;
  answer.ring_programs = device.ring_programs;
}

}  // namespace ttmem::legacy
