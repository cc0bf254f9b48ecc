// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original viewer's three screens (`tt_smi_umd`): main, charts, telemetry. Its layout, with
// what it got wrong put right: widths are columns of a terminal, a chart is 60 seconds and not 60
// samples, processes have their devices and bytes, and L1 means the same everywhere.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/snapshot.hpp"
#include "legacy/memory_text.hpp"

namespace ttmem::legacy {

enum class Screen : std::uint8_t { kMain = 1, kCharts = 2, kTelemetry = 3 };

// The last 60 seconds of every device.
class ChartHistory {
 public:
  void add(const ledger::Snapshot& snapshot);

  struct Point {
    ledger::TimeNs time;
    double dram_percent, l1_percent;
  };
  // Of one device, oldest first.
  std::vector<Point> points(std::uint32_t device) const;

 private:
  std::deque<std::pair<std::uint32_t, Point>> points_;
};

// `watched`: the last lines name the keys.
std::string screen_text(const ledger::Snapshot& snapshot, Screen screen,
                        const ChartHistory& history, bool watched);

// The chart of one device: 12 rows of 56 columns in a frame, with what L1_SMALL and TRACE are of L1
// and DRAM beside it.
std::string chart_text(const std::vector<ChartHistory::Point>& points, ledger::TimeNs now,
                       const Usage& usage);

// The same with the colours of the original, for a terminal: what is filled of a bar is green,
// yellow from 75 %, red from 90 %.
std::string coloured(std::string_view text);

}  // namespace ttmem::legacy
