// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/system_kernels.hpp"

#include <algorithm>

#include "ledger/live_state.hpp"

namespace ttmem::ledger {
namespace {

// Cores of a chip beside its workers.
CoreMask beside_workers(const LiveState& live, DeviceIndex device, const CoreGrid& grid) {
  CoreMask mask = grid.empty_mask();
  const std::vector<L1Frame>& frames = live.frames.of(device);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].core.role != Role::kWorker) set_bit(mask, i);
  }
  return mask;
}

}  // namespace

SystemKernels::SystemKernels(const LiveState& live, DeviceIndex device) {
  const CoreGrid* grid = live.grids.of(device);
  if (grid == nullptr || !live.catalog.is_open(device)) return;
  const CoreMask wanted = beside_workers(live, device, *grid);
  LivePrograms::Program program;
  for (const SlotIndex slot : live.programs.programs()) {
    if (!live.programs.find(slot, program)) continue;
    const ProgramRecord& record = *program.record;
    const bool here = record.loaded && counts(record) && live.catalog.covers(record.set, device);
    if (!here) continue;
    for (const KernelRecord* kernel : program.kernels) {
      live.catalog.effort().spend(grid->size() / 8 + 1);
      const CoreMask& cores = grid->mask(kernel->cores);
      CoreMask beside = wanted;
      intersect(beside, cores);
      if (count_bits(beside) == 0) continue;
      CoreKernel told{std::string(live.catalog.string(kernel->name)),
                      program_name(live, record),
                      record.type,
                      kernel->processor,
                      kernel->packed_bytes,
                      nullptr};
      all_.push_back({cores, std::move(told), record.config_bytes});
    }
  }
}

void SystemKernels::add_to(std::size_t position, CoreLayers& core) const {
  if (core.frame.core.role == Role::kWorker) return;
  const auto type = static_cast<std::size_t>(core.frame.core.core.type);
  for (const Placed& placed : all_) {
    if (!has_bit(placed.cores, position)) continue;
    core.view.kernels.push_back(placed.kernel);
    const std::uint64_t bytes = type < kCoreTypes ? placed.config_bytes[type] : 0;
    if (placed.kernel.type == KernelType::kApplication || bytes == 0) continue;
    const std::uint64_t base = core.frame.geometry.ring_base;
    const std::uint64_t size = std::min<std::uint64_t>(bytes, core.frame.geometry.ring_bytes);
    core.layers.push_back({Stretch::kRing, {base, base + size}, placed.kernel.program, nullptr});
  }
}

}  // namespace ttmem::ledger
