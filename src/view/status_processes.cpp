// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <optional>

#include <fmt/format.h>

#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::DeviceFigures;
using ledger::Space;

constexpr std::size_t kProcessNameWidth = 24;

struct ProgramL1Amount {
  ledger::Figure bytes;
  std::string_view word;
};

// Where nobody told of launches, what was registered is all that is known.
ProgramL1Amount program_l1_held(const ledger::ProgramL1Figures& program_l1) {
  if (program_l1.resident) return {program_l1.resident, ""};
  return {program_l1.allocated, " registered"};
}

std::string program_l1_text(const ledger::ProgramL1Figures& program_l1) {
  const ProgramL1Amount amount = program_l1_held(program_l1);
  return bytes_text(amount.bytes) + (amount.bytes ? std::string(amount.word) : "");
}

std::vector<std::string> figure_cells(const DeviceFigures& figures) {
  return {bytes_text(held(figures.space(Space::kDram))),
          bytes_text(held(figures.space(Space::kL1))),
          bytes_text(held(figures.space(Space::kL1Small))),
          bytes_text(held(figures.space(Space::kTrace))),
          program_l1_text(figures.program_l1),
          bytes_text(figures.kernels.total().footprint)};
}

// Devices on which a process holds the same, side by side: a mesh is one row.
struct DeviceGroup {
  std::vector<std::uint32_t> ids;
  std::vector<std::string> cells;
};

std::vector<DeviceGroup> grouped(const ledger::ProcessView& process) {
  std::vector<DeviceGroup> groups;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    std::vector<std::string> cells = figure_cells(device.figures);
    if (groups.empty() || groups.back().cells != cells) groups.push_back({{}, std::move(cells)});
    groups.back().ids.push_back(device.id);
  }
  if (groups.empty()) groups.push_back({{}, {}});
  return groups;
}

void add_rows(Table& table, const ledger::ProcessView& process) {
  const Trust trusted = trust(process.tracking);
  for (const DeviceGroup& group : grouped(process)) {
    std::vector<std::string> cells = {process.label(), user_text(process),
                                      cut(printable(process.name), kProcessNameWidth),
                                      id_list(group.ids) + (group.ids.size() > 1 ? " each" : "")};
    cells.insert(cells.end(), group.cells.begin(), group.cells.end());
    cells.resize(10);
    cells.push_back(sources_text(process.sources) + ", " + trusted.text);
    table.add(std::move(cells), trusted.tone == Tone::kGood ? Tone::kPlain : trusted.tone);
  }
}

// ---- those that ended -----------------------------------------------------------------------

void add_space(std::string& text, std::string_view label, const ledger::SpaceFigures& space) {
  if (space.count.value_or(0) == 0) return;
  text += fmt::format("{}{} {} in {}", text.empty() ? "" : ", ", label, bytes_text(held(space)),
                      count_text(*space.count, "buffer"));
}

std::string held_text(const DeviceFigures& figures) {
  std::string text;
  for (const Space space : ledger::kDeviceSpaces) {
    add_space(text, title(space), figures.space(space));
  }
  if (program_l1_held(figures.program_l1).bytes.value_or(0) > 0) {
    text += fmt::format("{}program L1 {}", text.empty() ? "" : ", ",
                        program_l1_text(figures.program_l1));
  }
  if (const auto total = figures.kernels.total(); total.footprint.value_or(0) > 0) {
    text += fmt::format("{}kernels {} footprint", text.empty() ? "" : ", ",
                        bytes_text(total.footprint));
  }
  return text;
}

std::string held_lines(const ledger::ProcessView& process) {
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> groups;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    const std::string text = held_text(device.figures);
    if (text.empty()) continue;
    if (groups.empty() || groups.back().first != text) groups.push_back({text, {}});
    groups.back().second.push_back(device.id);
  }
  std::string lines;
  for (const auto& [text, ids] : groups) {
    lines += fmt::format("    held on device {}{}: {}\n", id_list(ids),
                         ids.size() > 1 ? ", each" : "", text);
  }
  return lines;
}

std::string how_ended(const ledger::ProcessView& process, ledger::TimeNs now) {
  const std::string ago =
      process.ended_at == 0 ? "" : " " + age_text(process.ended_at, now) + " ago";
  switch (process.ended) {
    case ledger::Ended::kDied:
      return "died" + ago;
    case ledger::Ended::kExec:
      return "became another program" + ago;
    default:
      return "ended" + ago;
  }
}

}  // namespace

ledger::Figure held(const ledger::SpaceFigures& space) { return amount(space).bytes; }

std::string sources_text(const std::vector<ledger::Source>& sources) {
  std::string text;
  for (const ledger::Source source : sources) {
    if (source == ledger::Source::kDaemon) {
      text += " via daemon";
      continue;
    }
    if (!text.empty()) text += "+";
    text += name(source);
  }
  return text;
}

std::string user_text(const ledger::ProcessView& process) {
  return process.user.empty() ? std::to_string(process.uid) : printable(process.user);
}

std::string process_table(const ledger::Snapshot& snapshot, const Style& style) {
  Table table({{"PID", Align::kRight},
               {"User"},
               {"Name"},
               {"Device"},
               {"DRAM", Align::kRight},
               {"L1", Align::kRight},
               {"L1_SMALL", Align::kRight},
               {"Trace", Align::kRight},
               {"Program L1", Align::kRight},
               {"Kernels", Align::kRight},
               {"Tracking"}});
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (process.alive) add_rows(table, process);
  }
  if (table.empty()) return "";
  return style.paint(Tone::kStrong, "Processes") + "\n" + table.text(style, 2);
}

std::string ended_list(const ledger::Snapshot& snapshot, const Style& style) {
  std::string text;
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (process.alive) continue;
    const bool died = process.ended == ledger::Ended::kDied;
    text += style.paint(died ? Tone::kBad : Tone::kFaint,
                        fmt::format("  {} of {} {}", process_label(process), user_text(process),
                                    how_ended(process, snapshot.time)));
    const std::string lines = held_lines(process);
    text += (lines.empty() ? ", held nothing" : "") + std::string("\n") + lines;
    if (lines.empty() || process.hidden) continue;
    text += fmt::format("    ttmem dump{} --pid {} lists it\n", style.past, process.label());
  }
  if (text.empty()) return "";
  return style.paint(Tone::kStrong, "Ended (in no total)") + "\n" + text;
}

}  // namespace ttmem::view
