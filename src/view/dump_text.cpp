// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/table.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::HoldingKind;
using ledger::HoldingView;
using ledger::TimeNs;

constexpr std::size_t kHoldingNameWidth = 40;

std::string text_cell(const std::string& text) {
  return text.empty() ? "-" : cut(printable(text), kHoldingNameWidth);
}

std::string cores_cell(const HoldingView& holding) {
  if (holding.cores == 0) return "all";
  return std::to_string(holding.cores);
}

// "ttnn.add (BinaryNgDeviceOperation)"
std::string operation_cell(const HoldingView& holding) {
  const std::string name = text_cell(holding.operation);
  if (holding.operation_is_derived) return name + " (derived)";
  const std::string& beside = holding.device_operation;
  return beside.empty() ? name : fmt::format("{} ({})", name, text_cell(beside));
}

std::string notes_cell(const HoldingView& holding) {
  std::string notes;
  const auto add = [&](bool set, std::string_view note) {
    if (set) notes += (notes.empty() ? "" : ", ") + std::string(note);
  };
  add(!holding.process->alive, "process ended");
  add(holding.kernel_binaries, "kernel binaries");
  add(holding.trace_buffer, "trace");
  add(holding.estimated, "estimated");
  if (!holding.operation.empty()) add(true, operation_cell(holding));
  add(!holding.line.empty(), printable(holding.line));
  return notes;
}

// One kind of holding: its heading, its columns and how a row is made.
struct Sheet {
  std::string_view heading;
  std::vector<Column> columns;
  std::vector<std::string> (*row)(const HoldingView&, TimeNs);
};

std::vector<std::string> buffer_row(const HoldingView& holding, TimeNs now) {
  return {
      holding.process->label(),  id_list(holding.devices),     std::string(title(holding.space)),
      hex_text(holding.id),      hex_text(holding.address),    bytes_text(holding.requested),
      bytes_text(holding.taken), exact_text(holding.block),    std::string(name(holding.layout)),
      cores_cell(holding),       age_text(holding.since, now), notes_cell(holding)};
}

std::vector<std::string> kernel_row(const HoldingView& holding, TimeNs now) {
  return {holding.process->label(),
          id_list(holding.devices),
          fmt::format("{}.{}", told_id_text(holding.id), exact_text(holding.index)),
          std::string(name(holding.type)),
          text_cell(holding.name),
          exact_text(known_binary(holding)),
          exact_text(known_cores(holding)),
          std::string(name(holding.core_type)),
          bytes_text(holding.footprint),
          age_text(holding.since, now),
          launch_age_text(holding.dispatches, holding.first_dispatch, now),
          launch_age_text(holding.dispatches, holding.last_dispatch, now)};
}

std::vector<std::string> range_row(const HoldingView& holding, TimeNs now) {
  return {holding.process->label(),
          id_list(holding.devices),
          told_id_text(holding.id),
          std::string(name(holding.part)),
          exact_text(holding.index),
          hex_text(ledger::known_address(holding)),
          exact_text(holding.block),
          exact_text(known_cores(holding)),
          holding.core_set.empty() ? "-" : holding.core_set,
          bytes_text(holding.occupied),
          age_text(holding.since, now),
          text_cell(holding.name)};
}

std::vector<std::string> program_row(const HoldingView& holding, TimeNs now) {
  return {holding.process->label(),
          id_list(holding.devices),
          told_id_text(holding.id),
          std::string(name(holding.type)),
          text_cell(holding.name),
          holding.loaded ? "loaded" : "registered",
          exact_text(holding.dispatches),
          age_text(holding.since, now),
          launch_age_text(holding.dispatches, holding.last_dispatch, now),
          notes_cell(holding)};
}

std::vector<std::string> trace_row(const HoldingView& holding, TimeNs now) {
  return {holding.process->label(),     id_list(holding.devices),
          told_id_text(holding.id),     exact_text(holding.dispatches),
          age_text(holding.since, now), age_text(holding.last_dispatch, now)};
}

constexpr Align kRight = Align::kRight;

const std::map<HoldingKind, Sheet>& sheets() {
  static const std::map<HoldingKind, Sheet> kAll = {
      {HoldingKind::kBuffer,
       {"Buffers",
        {{"PID", kRight},
         {"Device"},
         {"Space"},
         {"ID", kRight},
         {"Address", kRight},
         {"Requested", kRight},
         {"Taken", kRight},
         {"Block B", kRight},
         {"Layout"},
         {"Banks", kRight},
         {"Age", kRight},
         {"Notes"}},
        buffer_row}},
      {HoldingKind::kProgram,
       {"Programs",
        {{"PID", kRight},
         {"Device"},
         {"ID", kRight},
         {"Type"},
         {"Name"},
         {"State"},
         {"Dispatches", kRight},
         {"Age", kRight},
         {"Last", kRight},
         {"Notes"}},
        program_row}},
      {HoldingKind::kKernel,
       {"Kernels (footprint = binary x cores: an upper bound)",
        {{"PID", kRight},
         {"Device"},
         {"ID", kRight},
         {"Type"},
         {"Name"},
         {"Binary B", kRight},
         {"Cores", kRight},
         {"Core type"},
         {"Footprint", kRight},
         {"Age", kRight},
         {"First dispatch", kRight},
         {"Last dispatch", kRight}},
        kernel_row}},
      {HoldingKind::kRange,
       {"Program L1",
        {{"PID", kRight},
         {"Device"},
         {"Program", kRight},
         {"Part"},
         {"Index", kRight},
         {"Address", kRight},
         {"Size B", kRight},
         {"Cores", kRight},
         {"Core set"},
         {"Allocated", kRight},
         {"Age", kRight},
         {"Name"}},
        range_row}},
      {HoldingKind::kTrace,
       {"Traces",
        {{"PID", kRight},
         {"Device"},
         {"ID", kRight},
         {"Replays", kRight},
         {"Age", kRight},
         {"Last replay", kRight}},
        trace_row}},
  };
  return kAll;
}

std::string sheet_text(HoldingKind kind, const std::vector<HoldingView>& holdings, TimeNs now,
                       const Style& style) {
  const Sheet& sheet = sheets().at(kind);
  Table table(sheet.columns);
  for (const HoldingView& holding : holdings) {
    if (holding.kind != kind) continue;
    table.add(sheet.row(holding, now), holding.process->alive ? Tone::kPlain : Tone::kFaint);
  }
  if (table.empty()) return "";
  return style.paint(Tone::kStrong, sheet.heading) + "\n" + table.text(style, 2);
}

}  // namespace

std::string dump_text(const std::vector<HoldingView>& holdings, TimeNs now, const Style& style) {
  std::string text;
  for (const auto& [kind, sheet] : sheets()) {
    const std::string part = sheet_text(kind, holdings, now, style);
    if (!text.empty() && !part.empty()) text += "\n";
    text += part;
  }
  return text;
}

// Every line of the text on a line of its own.
std::string indented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += "  " + printable(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string failure_text(const ProcessFailure& failed, TimeNs now, const Style& style) {
  const ledger::FailureView& failure = failed.failure;
  std::string text = style.paint(
      Tone::kBad, fmt::format("{} ({}), failure {}: {}, {} ago", printable(failed.process.name),
                              failed.process.label(), failure.number, printable(failure.kind),
                              age_text(failure.time, now)));
  text += "\n" + indented(failure.message);
  if (failure.requested) {
    text += fmt::format("  Asked for {} ({} in each bank) of {}\n", bytes_text(failure.requested),
                        bytes_text(failure.per_bank),
                        failure.space ? title(*failure.space) : std::string_view("memory"));
  }
  if (!failure.operation.empty()) text += "  While: " + printable(failure.operation) + "\n";
  if (!failure.line.empty()) text += "  At: " + printable(failure.line) + "\n";
  if (!failed.picture) return text;
  text +=
      fmt::format("  Held at that moment: {}{}\n\n", count_text(failed.picture->size(), "holding"),
                  failure.truncated ? " (the largest; there were more)" : "");
  return text + dump_text(*failed.picture, now, style);
}

}  // namespace ttmem::view
