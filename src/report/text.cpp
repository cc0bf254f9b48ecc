// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The report for logs of CI (text) and for pull requests (Markdown): the same tables in both.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/report.hpp"
#include "view/labels.hpp"
#include "view/markdown.hpp"
#include "view/printable.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::report {
namespace {

using view::Align;
using view::bytes_text;

constexpr std::size_t kMostRows = 15;

struct Grid {
  std::string title;
  std::vector<view::Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::string rest;  // what is not in the rows
};

Grid peak_grid(const SpacePeak& peak) {
  Grid grid{.title = fmt::format("Who held {} at its peak", view::title(peak.space)),
            .columns = {{"Bytes", Align::kRight},
                        {"Part", Align::kRight},
                        {"Buffers", Align::kRight},
                        {"Line"}},
            .rows = {},
            .rest = ""};
  std::uint64_t others = peak.lines.others, other_bytes = peak.lines.other_bytes;
  for (const Held& row : peak.lines.rows) {
    if (grid.rows.size() == kMostRows) {
      ++others;
      other_bytes += row.bytes;
      continue;
    }
    grid.rows.push_back({bytes_text(row.bytes), view::percent_text(row.bytes, peak.bytes),
                         row.buffers == 0 ? "?" : fmt::format("{}", row.buffers), innermost(row)});
  }
  if (others > 0) {
    grid.rest =
        fmt::format("{} more: {}", view::count_text(others, "line"), bytes_text(other_bytes));
  }
  return grid;
}

Grid device_grid(const Report& report) {
  Grid grid{.title = report.recorded ? "Devices at the peak" : "Devices",
            .columns = {{"Device"},
                        {"DRAM", Align::kRight},
                        {"of", Align::kRight},
                        {"L1", Align::kRight},
                        {"of", Align::kRight},
                        {"Program L1", Align::kRight}},
            .rows = {},
            .rest = ""};
  for (const ledger::DeviceView& device : report.devices) {
    const auto& dram = device.figures.space(ledger::Space::kDram);
    const auto& l1 = device.figures.space(ledger::Space::kL1);
    grid.rows.push_back({fmt::format("{}", device.id), bytes_text(dram.taken),
                         bytes_text(dram.capacity), bytes_text(l1.taken), bytes_text(l1.capacity),
                         bytes_text(device.figures.program_l1.resident)});
  }
  return grid;
}

Grid program_grid(const Report& report) {
  Grid grid{.title = "Programs",
            .columns = {{"Program L1", Align::kRight},
                        {"Fullest core", Align::kRight},
                        {"Launches", Align::kRight},
                        {"Reloads", Align::kRight},
                        {"Program"},
                        {"Line"}},
            .rows = {},
            .rest = ""};
  for (const ledger::ProgramView& each : report.programs) {
    if (grid.rows.size() == kMostRows) break;
    grid.rows.push_back({bytes_text(each.l1_allocated), bytes_text(view::known_l1_per_core(each)),
                         view::exact_text(each.dispatches), view::exact_text(each.reloads),
                         each.name.empty() ? view::hex_text(each.id) : each.name, each.line});
  }
  const std::uint64_t others = report.programs.size() - grid.rows.size() + report.other_programs;
  if (others > 0) grid.rest = view::count_text(others, "more program");
  return grid;
}

std::vector<Grid> grids_of(const Report& report) {
  std::vector<Grid> grids;
  for (const SpacePeak& peak : report.peaks) grids.push_back(peak_grid(peak));
  grids.push_back(device_grid(report));
  grids.push_back(program_grid(report));
  std::erase_if(grids, [](const Grid& grid) { return grid.rows.empty(); });
  return grids;
}

std::string grid_markdown(const Grid& grid) {
  std::string text = fmt::format("\n**{}**\n\n|", grid.title);
  for (const view::Column& column : grid.columns) text += fmt::format(" {} |", column.title);
  text += "\n|";
  for (const view::Column& column : grid.columns) {
    text += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  for (const auto& row : grid.rows) {
    text += "\n|";
    for (const std::string& cell : row) text += fmt::format(" {} |", view::markdown_text(cell));
  }
  text += "\n";
  if (!grid.rest.empty()) text += "\n" + grid.rest + "\n";
  return text;
}

}  // namespace

std::string text(const Report& report, const view::Style& style) {
  std::string text;
  for (const std::string& sentence : report.summary) text += view::printable(sentence) + "\n";
  for (const Grid& grid : grids_of(report)) {
    view::Table table(grid.columns);
    for (const auto& row : grid.rows) {
      std::vector<std::string> cells;
      for (const std::string& cell : row) cells.push_back(view::printable(cell));
      table.add(std::move(cells));
    }
    text += "\n" + style.paint(view::Tone::kStrong, grid.title) + "\n" + table.text(style, 2);
    if (!grid.rest.empty()) text += "  " + grid.rest + "\n";
  }
  for (const view::ExplainedFailure& failure : report.failures) {
    text += "\n" + view::explain_text(failure, report.end.time, style);
  }
  return text;
}

std::string markdown(const Report& report) {
  std::string text = "**Device memory**\n\n";
  for (const std::string& sentence : report.summary)
    text += "- " + view::markdown_text(sentence) + "\n";
  for (const Grid& grid : grids_of(report)) text += grid_markdown(grid);
  for (const view::ExplainedFailure& failure : report.failures) {
    text +=
        fmt::format("\n<details><summary>Failure {} of {} {}</summary>\n\n", failure.failure.number,
                    view::markdown_text(failure.process.name), failure.process.pid);
    text += view::markdown_block(view::explain_text(failure, report.end.time, {}));
    text += "\n</details>\n";
  }
  return text;
}

}  // namespace ttmem::report
