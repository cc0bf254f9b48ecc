// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <map>

#include "ledger/live_state.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

// Bytes that buffers of L1 and L1_SMALL take: on every core that is a bank, and on some alone.
struct BufferUse {
  std::uint64_t everywhere = 0;
  std::map<Core, std::uint64_t> by_core;
};

BufferUse buffer_use(const LiveState& live, DeviceIndex device) {
  BufferUse use;
  for (const Space space : {Space::kL1, Space::kL1Small}) {
    const auto ranges = merged(live.buffers.lock_step_ranges(device, space));
    use.everywhere = add(use.everywhere, total_bytes(ranges));
    for (const auto& [core, range] : live.buffers.per_core_ranges(device, space)) {
      std::uint64_t& bytes = use.by_core[core];
      bytes = add(bytes, range.end - range.begin);
    }
  }
  return use;
}

}  // namespace

std::vector<CoreUse> core_use(const LiveState& live, DeviceIndex device) {
  std::vector<CoreUse> cores;
  if (!live.grids.of(device)) return cores;
  const BufferUse buffers = buffer_use(live, device);
  const std::vector<Standing>* standing =
      live.catalog.is_open(device) ? live.residency.standing(device) : nullptr;
  const std::vector<L1Frame>& frames = live.frames.of(device);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const L1Frame& frame = frames[i];
    if (frame.core.role != Role::kWorker) continue;
    CoreUse use{frame.core.core, 0,
                subtract(frame.geometry.l1_bytes, frame.geometry.unreserved_base)};
    if (frame.bank) {
      use.used = buffers.everywhere;
      const auto own = buffers.by_core.find(frame.core.core);
      if (own != buffers.by_core.end()) use.used = add(use.used, own->second);
    }
    if (standing) use.used = add(use.used, bytes_below((*standing)[i].ranges, frame.ceiling()));
    cores.push_back(use);
  }
  return cores;
}

}  // namespace ttmem::ledger
