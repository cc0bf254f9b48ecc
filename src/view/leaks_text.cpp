// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/leaks_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "view/finding_parts.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using explain::LeakReport;
using explain::LeakSuspect;

std::string rate_text(double bytes) { return bytes_text(static_cast<std::uint64_t>(bytes)); }

std::string suspects_text(const LeakReport& report, ledger::TimeNs now, const Style& style) {
  if (report.suspects.empty()) return "";
  Table table({{"PID", Align::kRight},
               {"Device", Align::kRight},
               {"Space"},
               {"Per step", Align::kRight},
               {"Alive", Align::kRight},
               {"Block B", Align::kRight},
               {"Oldest", Align::kRight},
               {"Full in", Align::kRight},
               {"Made by"}});
  for (const LeakSuspect& each : report.suspects) {
    const std::string& operation = each.origin.operation;
    const std::string made =
        operation.empty() ? each.origin.line : operation + " " + each.origin.line;
    table.add({each.process->label(), std::to_string(each.device), std::string(title(each.space)),
               rate_text(each.taken_per_step), std::to_string(each.count), exact_text(each.block),
               age_text(each.oldest, now),
               each.steps_until_full ? fmt::format("{:.0f} steps", *each.steps_until_full) : "?",
               made.empty() ? "?" : printable(made)},
              Tone::kBad);
  }
  return style.paint(Tone::kStrong, "Grows from step to step") + "\n" + table.text(style, 2);
}

std::string lines_text(const LeakReport& report, const Style& style) {
  if (report.lines.empty()) return "";
  Table table({{"PID", Align::kRight},
               {"Device", Align::kRight},
               {"Space"},
               {"Grew by", Align::kRight},
               {"In", Align::kRight},
               {"Made by"}});
  for (const explain::GrowingLine& each : report.lines) {
    const std::string made = each.origin.operation.empty()
                                 ? each.origin.line
                                 : each.origin.operation + " " + each.origin.line;
    table.add({each.process->label(), std::to_string(each.device), std::string(title(each.space)),
               bytes_text(each.taken), count_text(each.steps, "step"),
               made.empty() ? "?" : printable(made)});
  }
  return style.paint(Tone::kStrong, "Grew now and then, and never fell") + "\n" +
         table.text(style, 2);
}

std::string others_text(const LeakReport& report, const Style& style) {
  std::string text;
  for (const explain::FallingL1& each : report.falling) {
    text += style.paint(
        Tone::kWarn,
        wrapped(
            fmt::format("The lowest L1 buffer of process {} on device {} falls by {} per step: {} "
                        "at first, now {}. The room of programs shrinks until one clashes.",
                        each.process->label(), each.device,
                        bytes_text(static_cast<std::uint64_t>(std::llround(each.bytes_per_step))),
                        exact_text(each.first), exact_text(each.last)),
            "", "  "));
  }
  for (const explain::GrowingCache& each : report.caches) {
    text += style.paint(
        Tone::kWarn,
        wrapped(
            fmt::format("New programs in the cache of process {} on device {}: {:.1f} per step, "
                        "{} by now. Shapes that change make new programs.",
                        each.process->label(), each.device, each.programs_per_step, each.programs),
            "", "  "));
  }
  return text;
}

}  // namespace

std::string leaks_text(const LeakReport& report, ledger::TimeNs now, const Style& style) {
  if (report.processes.empty()) {
    return "No steps were seen: nothing allocates in a loop that repeats. ttmem.step() in the "
           "program says where a step begins; with --mark you do.\n";
  }
  std::string seen;
  for (const explain::WatchedProcess& each : report.processes) {
    seen += fmt::format("{} ({}): {}, {}{}\n", printable(each.process->name), each.process->label(),
                        count_text(each.steps, "step"),
                        each.marked ? "marked" : "found from the sequence of operations",
                        each.is_known ? "" : "; too few to tell what grows");
  }
  const std::string found =
      suspects_text(report, now, style) + others_text(report, style) + lines_text(report, style);
  if (!found.empty()) return seen + found;
  const bool known = std::ranges::any_of(report.processes, &explain::WatchedProcess::is_known);
  return seen + (known ? "Nothing grows from step to step.\n" : "");
}

std::string leaks_json(const ledger::Snapshot& snapshot, const LeakReport& report,
                       JsonLayout layout) {
  using json::Json;
  Json document = json::head("leaks", snapshot);
  document["steps"] = report.steps;
  document["steps_from"] = json::text_or_null(report.steps_from);
  document["processes"] = Json::array();
  for (const explain::WatchedProcess& each : report.processes) {
    Json value = Json::object();
    json::add_process(value, *each.process);
    value.update({{"steps", each.steps},
                  {"looks", each.looks},
                  {"steps_from", each.marked ? "marks" : "sequence"},
                  {"known", each.is_known}});
    document["processes"].push_back(std::move(value));
  }
  document["suspects"] = Json::array();
  for (const LeakSuspect& each : report.suspects) {
    Json value = Json::object();
    json::add_process(value, *each.process);
    value.update({{"device", each.device},
                  {"space", ledger::name(each.space)},
                  {"operation", json::text_or_null(each.origin.operation)},
                  {"line", json::text_or_null(each.origin.line)},
                  {"region", json::text_or_null(each.origin.region)},
                  {"block", each.block},
                  {"count", each.count},
                  {"blocks_per_step", each.blocks_per_step},
                  {"bytes_per_step", each.bytes_per_step},
                  {"taken_per_step", each.taken_per_step},
                  {"steps_until_full", json::or_null(each.steps_until_full)},
                  {"oldest_ns", json::time_or_null(each.oldest)}});
    document["suspects"].push_back(std::move(value));
  }
  document["falling_l1"] = Json::array();
  for (const explain::FallingL1& each : report.falling) {
    Json value = Json::object();
    json::add_process(value, *each.process);
    value.update({{"device", each.device},
                  {"first", each.first},
                  {"last", each.last},
                  {"bytes_per_step", each.bytes_per_step}});
    document["falling_l1"].push_back(std::move(value));
  }
  document["growing_caches"] = Json::array();
  for (const explain::GrowingCache& each : report.caches) {
    Json value = Json::object();
    json::add_process(value, *each.process);
    value.update({{"device", each.device},
                  {"programs", each.programs},
                  {"programs_per_step", each.programs_per_step}});
    document["growing_caches"].push_back(std::move(value));
  }
  document["growing_lines"] = Json::array();
  for (const explain::GrowingLine& each : report.lines) {
    Json value = Json::object();
    json::add_process(value, *each.process);
    value.update({{"device", each.device},
                  {"space", ledger::name(each.space)},
                  {"operation", json::text_or_null(each.origin.operation)},
                  {"line", json::text_or_null(each.origin.line)},
                  {"region", json::text_or_null(each.origin.region)},
                  {"taken", each.taken},
                  {"steps", each.steps}});
    document["growing_lines"].push_back(std::move(value));
  }
  return json::text(document, layout);
}

}  // namespace ttmem::view
