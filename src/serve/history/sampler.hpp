// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Takes the figures of a snapshot to the tracks: the sums that the snapshot has, the peaks that the
// processes counted, and the rate of launches, which nobody counts but the time between two looks.
#pragma once

#include <cstdint>
#include <map>

#include "serve/history/device_book.hpp"
#include "serve/history/run_book.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {

class Sampler {
 public:
  // `runs` has seen the snapshot already; `tracks` is within a round.
  void sample(const ledger::Snapshot& snapshot, const DeviceBook& devices, const RunBook& runs,
              TimeNs now, Tracks& tracks);
  // Also called when no snapshot comes: a device that launches nothing any more has the rate 0.
  void settle_rates(TimeNs now, Tracks& tracks);
  bool rates_pending() const;
  // After a time when nobody looked.
  void forget_rates() { rates_.clear(); }

 private:
  struct Rate {
    bool known = false;
    std::int64_t launches = 0;  // since `since`
    TimeNs since = 0;
    std::int64_t last = 0;
  };
  void take_launches(const ledger::Snapshot& snapshot, const DeviceBook& devices,
                     const RunBook& runs, TimeNs now);

  std::map<std::uint64_t, Rate> rates_;  // by number of the device
};

}  // namespace ttmem::serve::history
