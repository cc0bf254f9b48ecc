// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/labels.hpp"
#include "view/origin_tree.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/table.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::OriginBy;
using ledger::OriginTotal;
using ledger::Space;

std::string_view column_title(OriginBy by) {
  switch (by) {
    case OriginBy::kLine:
      return "Line";
    case OriginBy::kFile:
      return "File";
    case OriginBy::kOperation:
      return "Operation";
    case OriginBy::kRegion:
      return "Region";
    case OriginBy::kStack:
      return "Stack";
  }
  return "";
}

// A space that nobody holds anything in has no column, but for the two that everybody looks for.
class Columns {
 public:
  Columns(const std::vector<OriginTotal>& rows, OriginBy by) : by_(by) {
    for (const OriginTotal& row : rows) ledger::add_to(total_, row);
    with_pids_ = total_.processes.size() > 1;
    for (const Space which : ledger::kDeviceSpaces) {
      const bool usual = which == Space::kDram || which == Space::kL1;
      const ledger::OriginSpace& space = total_.space(which);
      if (space.buffers > 0) held_.push_back(which);
      if (usual || space.buffers > 0 || space.at_peak.value_or(0) > 0) spaces_.push_back(which);
      if (space.at_peak.value_or(0) > 0) peaks_.push_back(which);
    }
    with_programs_ = total_.program_l1 > 0 || total_.kernels > 0;
  }

  std::vector<Column> titles() const {
    std::vector<Column> columns;
    const auto add = [&](std::string_view text) {
      columns.push_back({std::string(text), Align::kRight});
    };
    for (const Space which : spaces_) add(title(which));
    if (with_programs_) add("Program L1"), add("Kernels");
    add("Buffers");
    for (const Space which : held_) add(std::string(title(which)) + " last min");
    for (const Space which : peaks_) add(std::string(title(which)) + " at peak");
    if (with_pids_) add("PID");
    columns.push_back({std::string(column_title(by_)), Align::kLeft});
    return columns;
  }

  std::vector<std::string> cells(const OriginTotal& row, const std::string& name) const {
    std::vector<std::string> cells;
    std::uint64_t buffers = 0;
    for (const Space which : spaces_) {
      const ledger::OriginSpace& space = row.space(which);
      cells.push_back(space.buffers == 0 ? "0 B" : bytes_text(space.taken));
      buffers += space.buffers;
    }
    if (with_programs_) {
      cells.push_back(bytes_text(row.program_l1));
      cells.push_back(bytes_text(row.kernels));
    }
    cells.push_back(std::to_string(buffers));
    for (const Space which : held_) {
      const ledger::OriginSpace& space = row.space(which);
      cells.push_back(space.buffers == 0 ? "0 B" : bytes_text(space.recent));
    }
    for (const Space which : peaks_)
      cells.push_back(bytes_text(row.space(which).at_peak.value_or(0)));
    if (with_pids_) cells.push_back(pids_text(row));
    cells.push_back(name);
    return cells;
  }

  const OriginTotal& total() const { return total_; }

 private:
  static std::string pids_text(const OriginTotal& row) {
    if (row.processes.empty()) return "";
    if (row.processes.size() == 1) return row.processes.front()->label();
    return fmt::format("{} processes", row.processes.size());
  }

  OriginBy by_;
  OriginTotal total_;
  std::vector<Space> spaces_, held_, peaks_;
  bool with_pids_ = false, with_programs_ = false;
};

// When each peak was, and whether the rows tell all of it.
std::string peaks_text(const std::vector<ledger::OriginPeak>& peaks) {
  std::string text;
  for (const ledger::OriginPeak& peak : peaks) {
    text +=
        fmt::format("{} of {} was fullest at {}: {} on {} {}", title(peak.space),
                    process_label(*peak.process), clock_text(peak.time), bytes_text(peak.bytes),
                    peak.devices.size() > 1 ? "each of devices" : "device", id_list(peak.devices));
    if (peak.in_rows != peak.bytes) {
      text += fmt::format(", of which the rows tell {}", bytes_text(peak.in_rows));
    }
    text += "\n";
  }
  return text.empty() ? text : "\n" + text;
}

// Why something of the process has no line of Python; "" = nobody knows.
std::string why_no_lines(const ledger::Tracking& tracking) {
  if (tracking.lines == ledger::Lines::kOff) {
    return "lines were switched off (--no-lines, TTMEM_LINES=0)";
  }
  if (tracking.lines == ledger::Lines::kOn && (tracking.partial || !tracking.since_open)) {
    return "what it had before it was recorded has no line";
  }
  return no_lines_text(tracking);
}

bool is_nameless(const OriginTotal& row, const ledger::ProcessView& process) {
  return row.path.empty() &&
         std::ranges::any_of(row.processes, [&](const auto& owner) { return owner->is(process); });
}

}  // namespace

std::string origin_name(const OriginTotal& row, OriginBy by) {
  if (row.path.empty()) return by == OriginBy::kRegion ? "(no region)" : "(not known)";
  return printable(fmt::format("{}", fmt::join(row.path, " > "))) +
         (row.derived ? " (derived)" : "");
}

std::string origins_text(const Origins& origins, const Style& style) {
  const auto& rows = origins.totals.rows;
  const OriginBy by = origins.question.by;
  const Columns columns(rows, by);
  Table table(columns.titles());
  if (by == OriginBy::kStack) {
    for (const OriginStep& step : origin_tree(rows)) {
      const std::string name = step.name.empty() ? "(not known)" : printable(step.name);
      table.add(columns.cells(step.total, std::string(2 * step.depth, ' ') + name));
    }
  } else {
    for (const OriginTotal& row : rows) table.add(columns.cells(row, origin_name(row, by)));
  }
  table.add(columns.cells(columns.total(), "Total"), Tone::kStrong);
  return table.text(style, 0) + peaks_text(origins.totals.peaks);
}

std::string origins_notes(const Origins& origins, const ledger::Snapshot& snapshot) {
  std::string text;
  if (origins.question.by != OriginBy::kRegion) {
    for (const ledger::ProcessView& process : snapshot.processes) {
      const std::string why = why_no_lines(process.tracking);
      if (why.empty()) continue;
      const bool asks = std::ranges::any_of(
          origins.totals.rows, [&](const OriginTotal& row) { return is_nameless(row, process); });
      if (asks) text += fmt::format("{}: {}\n", process_label(process), why);
    }
  }
  return text + unlisted_text(snapshot);
}

}  // namespace ttmem::view
