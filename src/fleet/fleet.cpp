// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/fleet.hpp"

#include <algorithm>
#include <tuple>

namespace ttmem::fleet {

std::uint64_t Fleet::fresh() const {
  return static_cast<std::uint64_t>(std::ranges::count(hosts, HostState::kFresh, &HostRow::state));
}

bool Fleet::is_partial() const { return fresh() < hosts.size(); }

FleetTotals totals_of(const Fleet& fleet) {
  FleetTotals totals;
  if (fleet.fresh() == 0) return totals;  // nobody told anything, which is not nothing
  ledger::WholeSum dram, dram_capacity, l1, l1_capacity;
  for (const HostRow& host : fleet.hosts) {
    if (host.state != HostState::kFresh) continue;
    totals.devices += host.devices.value_or(0);
    // A host without devices has nothing, which is known.
    if (host.devices.value_or(0) == 0) continue;
    dram.add(host.dram);
    dram_capacity.add(host.dram_capacity);
    l1.add(host.l1);
    l1_capacity.add(host.l1_capacity);
    if (host.headroom && (!totals.headroom || *host.headroom < *totals.headroom)) {
      totals.headroom = host.headroom;
    }
  }
  totals.dram = dram.result();
  totals.dram_capacity = dram_capacity.result();
  totals.l1 = l1.result();
  totals.l1_capacity = l1_capacity.result();
  return totals;
}

void sort(Fleet& fleet) {
  std::ranges::sort(fleet.hosts, {}, [](const HostRow& host) {
    return std::tuple(host.state, -host.dram_share().value_or(-1), host.name);
  });
  std::ranges::sort(fleet.jobs, [](const JobRow& left, const JobRow& right) {
    return std::tuple(right.dram.value_or(0), left.key, left.user) <
           std::tuple(left.dram.value_or(0), right.key, right.user);
  });
}

}  // namespace ttmem::fleet
