// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/labels.hpp"
#include "view/printable.hpp"
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
      if (usual || total_.space(which).buffers > 0) spaces_.push_back(which);
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
    add("Last minute");
    if (with_pids_) add("PID");
    columns.push_back({std::string(column_title(by_)), Align::kLeft});
    return columns;
  }

  std::vector<std::string> cells(const OriginTotal& row, const std::string& name) const {
    std::vector<std::string> cells;
    std::uint64_t buffers = 0;
    ledger::Figure recent = 0;
    for (const Space which : spaces_) {
      const ledger::OriginSpace& space = row.space(which);
      cells.push_back(space.buffers == 0 ? "0 B" : bytes_text(space.taken));
      buffers += space.buffers;
      ledger::add_to(recent, space.recent);
    }
    if (with_programs_) {
      cells.push_back(bytes_text(row.program_l1));
      cells.push_back(bytes_text(row.kernels));
    }
    cells.push_back(std::to_string(buffers));
    cells.push_back(bytes_text(recent));
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
  std::vector<Space> spaces_;
  bool with_pids_ = false, with_programs_ = false;
};

// A step of a stack with everything inside of it.
struct Step {
  OriginTotal total;
  std::map<std::string, Step> inside;
};

void add_stack(Step& root, const OriginTotal& row) {
  static const std::vector<std::string> kUnknown = {""};
  Step* step = &root;
  for (const std::string& name : row.path.empty() ? kUnknown : row.path) {
    step = &step->inside[name];
    ledger::add_to(step->total, row);
  }
}

void add_rows(const Step& around, std::size_t depth, const Columns& columns, Table& table) {
  std::vector<std::pair<const std::string*, const Step*>> steps;
  for (const auto& [name, step] : around.inside) steps.emplace_back(&name, &step);
  std::ranges::stable_sort(steps, [](const auto& a, const auto& b) {
    return a.second->total.taken() > b.second->total.taken();
  });
  for (const auto& [name, step] : steps) {
    const std::string text = name->empty() ? "(not known)" : printable(*name);
    table.add(columns.cells(step->total, std::string(2 * depth, ' ') + text));
    add_rows(*step, depth + 1, columns, table);
  }
}

}  // namespace

std::string origin_name(const OriginTotal& row, OriginBy by) {
  if (row.path.empty()) return by == OriginBy::kRegion ? "(no region)" : "(not known)";
  return printable(fmt::format("{}", fmt::join(row.path, " > ")));
}

std::string origins_text(const Origins& origins, const Style& style) {
  const auto& [question, rows] = origins;
  const OriginBy by = question.by;
  const Columns columns(rows, by);
  Table table(columns.titles());
  if (by == OriginBy::kStack) {
    Step root;
    for (const OriginTotal& row : rows) add_stack(root, row);
    add_rows(root, 0, columns, table);
  } else {
    for (const OriginTotal& row : rows) table.add(columns.cells(row, origin_name(row, by)));
  }
  table.add(columns.cells(columns.total(), "Total"), Tone::kStrong);
  return table.text(style, 0);
}

}  // namespace ttmem::view
