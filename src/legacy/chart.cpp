// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "legacy/viewer.hpp"

namespace ttmem::legacy {
namespace {

constexpr std::uint64_t kWindowNs = 60'000'000'000;
constexpr std::size_t kRows = 12, kColumns = 56;

using Canvas = std::array<std::string, kRows>;

// The row of a value: 0 is the top, 100 percent.
std::size_t row_of(double percent) {
  const double share = std::clamp(percent, 0.0, 100.0) / 100.0;
  return static_cast<std::size_t>(std::lround((1.0 - share) * (kRows - 1)));
}

// A point per column, the latest that falls into it; gaps repeat the one before.
void draw(const std::vector<ChartHistory::Point>& points, ledger::TimeNs now,
          double ChartHistory::Point::* value, char flat, Canvas& canvas) {
  std::array<int, kColumns> rows;
  rows.fill(-1);
  for (const ChartHistory::Point& point : points) {
    const std::uint64_t age = now - std::min(now, point.time);
    if (age >= kWindowNs) continue;
    const auto column = static_cast<std::size_t>((kWindowNs - 1 - age) * kColumns / kWindowNs);
    rows[column] = static_cast<int>(row_of(point.*value));
  }
  int before = -1;
  for (std::size_t column = 0; column < kColumns; ++column) {
    const int row = rows[column] >= 0 ? rows[column] : before;
    if (row < 0) continue;
    const int from = before < 0 ? row : before;
    for (int each = std::min(from, row); each <= std::max(from, row); ++each) {
      canvas[static_cast<std::size_t>(each)][column] = from == row ? flat : '|';
    }
    before = row;
  }
}

}  // namespace

void ChartHistory::add(const ledger::Snapshot& snapshot) {
  for (const ledger::DeviceView& device : snapshot.devices) {
    const Usage usage = usage_of(device);
    points_.emplace_back(device.id, Point{snapshot.time, usage.dram_percent(), usage.l1_percent()});
  }
  while (!points_.empty() && points_.front().second.time + kWindowNs < snapshot.time) {
    points_.pop_front();
  }
}

std::vector<ChartHistory::Point> ChartHistory::points(std::uint32_t device) const {
  std::vector<Point> points;
  for (const auto& [id, point] : points_) {
    if (id == device) points.push_back(point);
  }
  return points;
}

std::string chart_text(const std::vector<ChartHistory::Point>& points, ledger::TimeNs now,
                       const Usage& usage) {
  Canvas canvas;
  canvas.fill(std::string(kColumns, ' '));
  draw(points, now, &ChartHistory::Point::dram_percent, '-', canvas);
  draw(points, now, &ChartHistory::Point::l1_percent, ':', canvas);
  const std::string rule = "  +" + std::string(60, '-') + "+\n";
  std::string text = rule;
  for (std::size_t row = 0; row < kRows; ++row) {
    std::string label(4, ' ');
    for (const int percent : {100, 80, 60, 40, 20, 0}) {
      if (row_of(percent) == row) label = fmt::format("{:>3} ", percent);
    }
    text += fmt::format("  |{}{}|{}\n", label, canvas[row],
                        row == 2   ? " DRAM (-)"
                        : row == 4 ? " L1 (:)"
                        : row == 6 ? " L1_SMALL: " + share(usage.l1_small, usage.l1_total)
                        : row == 8 ? " TRACE: " + share(usage.trace, usage.dram_total)
                                   : "");
  }
  return text + rule + "  60s ago" + std::string(50, ' ') + "now\n";
}

}  // namespace ttmem::legacy
