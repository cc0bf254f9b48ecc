// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/origin_peaks.hpp"

#include <algorithm>

namespace ttmem::ledger {

AtPeaks::AtPeaks(PeakRecords records, const Catalog& catalog,
                 const std::vector<DeviceIndex>& chosen)
    : records_(std::move(records)),
      catalog_(catalog),
      chosen_(records_.peaks.size()),
      told_(records_.peaks.size()) {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    for (const DeviceIndex device : records_.peaks[i].devices) {
      if (std::ranges::find(chosen, device) != chosen.end()) chosen_[i].push_back(device);
    }
  }
}

const std::vector<std::pair<std::uint32_t, std::uint32_t>>& AtPeaks::parts_of(SetIndex set) {
  const auto [found, is_new] = parts_.try_emplace(set);
  if (!is_new) return found->second;
  const auto& members = catalog_.devices_in(set);
  for (std::uint32_t peak = 0; peak < chosen_.size(); ++peak) {
    catalog_.effort().spend(chosen_[peak].size() + 1);
    const auto inside = std::ranges::count_if(chosen_[peak], [&](DeviceIndex device) {
      return std::ranges::find(members, device) != members.end();
    });
    if (inside > 0) found->second.emplace_back(peak, static_cast<std::uint32_t>(inside));
  }
  return found->second;
}

Figure AtPeaks::of_live(const OriginShare& share) {
  Figure held;
  for (const auto& [peak, devices] : parts_of(share.set)) {
    const PeakMoment& at = moment(peak, *share.space);
    if (at.ticks == 0) continue;
    const bool was_there = share.since <= at.ticks;
    const std::uint64_t bytes = was_there ? share.taken.value_or(share.requested) : 0;
    told(peak, *share.space) = add(told(peak, *share.space), bytes);
    add_to(held, times(bytes, devices));
  }
  return held;
}

}  // namespace ttmem::ledger
