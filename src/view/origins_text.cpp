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

  // Only what is held now.
  void narrow() {
    held_.clear();
    peaks_.clear();
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

  // Of a row that has the figures of the one above it.
  std::vector<std::string> name_alone(const std::string& name) const {
    std::vector<std::string> cells(titles().size());
    cells.back() = name;
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

// How far a step stands to the right: calls that do not branch stand below each other, and deep
// trees say how deep they are.
std::string step_name(const OriginStep& step, std::size_t width) {
  constexpr std::size_t kDeepest = 8;
  const std::size_t level = step.branches + (step.goes_on ? 1 : 0);
  std::string before(2 * std::min(level, kDeepest), ' ');
  if (level > kDeepest) before += fmt::format("[{}] ", level);
  const std::string name = step.name.empty() ? "(not known)" : printable(step.name);
  if (width == 0) return before + name;
  return before + cut_front(name, width > before.size() ? width - before.size() : 1);
}

// `width`: of the names; 0 = as long as they are.
Table tree_table(const std::vector<OriginStep>& steps, const Columns& columns, std::size_t width) {
  Table table(columns.titles());
  for (const OriginStep& step : steps) {
    const std::string name = step_name(step, width);
    table.add(step.goes_on ? columns.name_alone(name) : columns.cells(step.total, name));
  }
  table.add(columns.cells(columns.total(), "Total"), Tone::kStrong);
  return table;
}

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, display_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

// On a terminal that is too narrow only with what is held now, and with the ends of long names.
std::string tree_text(const std::vector<OriginTotal>& rows, Columns columns, const Style& style) {
  constexpr std::size_t kLeastName = 24;
  const std::vector<OriginStep> steps = origin_tree(rows);
  const std::string whole = tree_table(steps, columns, 0).text({}, 0);
  if (style.columns == 0 || widest_line(whole) <= style.columns) {
    return tree_table(steps, columns, 0).text(style, 0);
  }
  columns.narrow();
  // Names stand behind the figures, where their title begins.
  const std::size_t figures =
      tree_table(steps, columns, 0).text({}, 0).find(column_title(OriginBy::kStack));
  const std::size_t room = style.columns - std::min(style.columns, figures);
  return tree_table(steps, columns, std::max(kLeastName, room)).text(style, 0);
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
  const std::string peaks = peaks_text(origins.totals.peaks);
  if (by == OriginBy::kStack) return tree_text(rows, columns, style) + peaks;
  Table table(columns.titles());
  for (const OriginTotal& row : rows) table.add(columns.cells(row, origin_name(row, by)));
  table.add(columns.cells(columns.total(), "Total"), Tone::kStrong);
  return table.text(style, 0) + peaks;
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
