// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one process held at its peaks, told share by share, on the devices that are asked for.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ledger/catalog.hpp"
#include "ledger/figures.hpp"
#include "ledger/origin_shares.hpp"
#include "ledger/peaks.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {

class AtPeaks {
 public:
  AtPeaks(PeakRecords records, const Catalog& catalog, const std::vector<DeviceIndex>& chosen);

  // Of a buffer that lives: its bytes on all chosen devices that it was on at their peak; empty if
  // that is not known of any of them.
  Figure of_live(const OriginShare& share);
  // Calls visit(share, its bytes on all chosen devices) for what has been released since.
  template <typename Visit>
  void for_each_released(Visit visit);

  // Moments that are known and not empty: visit(record, the chosen of its devices, space, moment,
  // bytes of it on each device that were told above).
  template <typename Visit>
  void for_each_moment(Visit visit) const;

 private:
  // Of a set: which records have chosen devices in it, and how many.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& parts_of(SetIndex set);
  const PeakMoment& moment(std::uint32_t peak, Space space) const {
    return records_.peaks[peak].moments[static_cast<std::size_t>(space)];
  }
  std::uint64_t& told(std::uint32_t peak, Space space) {
    return told_[peak][static_cast<std::size_t>(space)];
  }

  PeakRecords records_;
  const Catalog& catalog_;
  std::vector<std::vector<DeviceIndex>> chosen_;          // by record
  std::vector<std::array<std::uint64_t, kSpaces>> told_;  // by record, on each device
  std::unordered_map<SetIndex, std::vector<std::pair<std::uint32_t, std::uint32_t>>> parts_;
};

template <typename Visit>
void AtPeaks::for_each_released(Visit visit) {
  for (const ReleasedShare& share : records_.released) {
    const auto devices = static_cast<std::uint32_t>(chosen_[share.peak].size());
    if (devices == 0) continue;
    told(share.peak, share.space) = add(told(share.peak, share.space), share.bytes);
    visit(share, times(share.bytes, devices));
  }
}

template <typename Visit>
void AtPeaks::for_each_moment(Visit visit) const {
  for (std::uint32_t peak = 0; peak < records_.peaks.size(); ++peak) {
    if (chosen_[peak].empty()) continue;
    for (const Space space : kDeviceSpaces) {
      const PeakMoment& at = moment(peak, space);
      if (at.ticks == 0 || at.bytes == 0) continue;
      visit(chosen_[peak], space, at, told_[peak][static_cast<std::size_t>(space)]);
    }
  }
}

}  // namespace ttmem::ledger
