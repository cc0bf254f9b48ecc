// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/formats.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "legacy/reports.hpp"
#include "view/explain_text.hpp"
#include "view/fit_text.hpp"
#include "view/leaks_text.hpp"
#include "view/live_text.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

using ledger::Snapshot;
using view::JsonLayout;

// ---- the state of devices ----------------------------------------------------------------------

void status_as_text(Output& output, const Snapshot& snapshot) {
  output.write(view::status_text(snapshot, output.style()));
}
void status_as_json(Output& output, const Snapshot& snapshot) {
  output.write(view::snapshot_json(snapshot, JsonLayout::kPretty) + "\n");
}
// The original says nothing where nothing is tracked; then it is better to say how to begin.
void status_as_legacy(Output& output, const Snapshot& snapshot) {
  output.write(view::is_empty(snapshot) ? view::status_text(snapshot, output.style())
                                        : legacy::status_text(snapshot));
}

void cores_as_text(Output& output, const Snapshot& /*snapshot*/,
                   const std::vector<view::DeviceCores>& devices) {
  for (const view::DeviceCores& device : devices) {
    if (&device != devices.data()) output.write("\n");
    output.write(view::cores_text(device, output.style()));
  }
}
void cores_as_json(Output& output, const Snapshot& snapshot,
                   const std::vector<view::DeviceCores>& devices) {
  output.write(view::cores_json(snapshot, devices, false, JsonLayout::kPretty) + "\n");
}

void core_map_as_text(Output& output, const Snapshot& /*snapshot*/,
                      const view::DeviceCores& device) {
  output.write(view::core_map_text(device.id, device.cores.front(), output.style()));
}
void core_map_as_json(Output& output, const Snapshot& snapshot, const view::DeviceCores& device) {
  output.write(view::cores_json(snapshot, {device}, true, JsonLayout::kPretty) + "\n");
}

void programs_as_text(Output& output, const Snapshot& snapshot,
                      const std::vector<ledger::ProgramView>& programs) {
  output.write(programs.empty() ? "No program is alive.\n"
                                : view::programs_text(programs, snapshot.time, output.style()));
}
void programs_as_json(Output& output, const Snapshot& snapshot,
                      const std::vector<ledger::ProgramView>& programs) {
  output.write(view::programs_json(snapshot, programs, JsonLayout::kPretty) + "\n");
}

// ---- what is held ------------------------------------------------------------------------------

// Who may not read all must not take it for all.
std::string nothing_text(const Snapshot& snapshot) {
  if (snapshot.unreadable.empty()) return "Nothing is held.\n";
  return fmt::format(
      "Nothing is held that you may read. {} could not be read: `ttmem status` says which and "
      "why.\n",
      view::count_text(snapshot.unreadable.size(), "file"));
}

void holdings_as_text(Output& output, const Snapshot& snapshot,
                      const std::vector<ledger::HoldingView>& holdings) {
  if (!holdings.empty()) {
    output.write(view::dump_text(holdings, snapshot.time, output.style()));
  } else {
    const bool is_empty = view::is_empty(snapshot) && snapshot.unreadable.empty();
    output.write(is_empty ? view::empty_text() : nothing_text(snapshot));
  }
  output.write(view::unlisted_text(snapshot));
}
void holdings_as_json(Output& output, const Snapshot& snapshot,
                      const std::vector<ledger::HoldingView>& holdings) {
  view::holdings_json(snapshot, holdings, [&](std::string_view text) { output.write(text); });
}

void jobs_as_text(Output& output, const Snapshot& snapshot,
                  const std::vector<ledger::JobView>& jobs) {
  output.write(view::jobs_text(jobs, snapshot.time, output.style()));
}
void jobs_as_json(Output& output, const Snapshot& snapshot,
                  const std::vector<ledger::JobView>& jobs) {
  output.write(view::jobs_json(snapshot, jobs, JsonLayout::kPretty) + "\n");
}

void origins_as_text(Output& output, const Snapshot& snapshot, const view::Origins& origins) {
  if (origins.totals.rows.empty()) {
    return output.write(nothing_text(snapshot) + view::unlisted_text(snapshot));
  }
  output.write(view::origins_text(origins, output.style()) +
               view::origins_notes(origins, snapshot));
  const std::size_t devices = snapshot.devices.size();
  if (origins.question.device || devices < 2) return;
  output.write(fmt::format("Bytes of all {} devices together; --device ID shows one.\n", devices));
}
void origins_as_json(Output& output, const Snapshot& snapshot, const view::Origins& origins) {
  output.write(view::origins_json(snapshot, origins, JsonLayout::kPretty) + "\n");
}

void failures_as_text(Output& output, const Snapshot& snapshot,
                      const std::vector<view::ProcessFailure>& failures) {
  for (const view::ProcessFailure& failure : failures) {
    output.write(view::failure_text(failure, snapshot.time, output.style()));
  }
}
void failures_as_json(Output& output, const Snapshot& snapshot,
                      const std::vector<view::ProcessFailure>& failures) {
  output.write(view::failures_json(snapshot, failures, JsonLayout::kPretty) + "\n");
}

void explain_as_text(Output& output, const Snapshot& snapshot,
                     const view::ExplainedFailure& failure) {
  output.write(view::explain_text(failure, snapshot.time, output.style()));
}
void explain_as_json(Output& output, const Snapshot& snapshot,
                     const view::ExplainedFailure& failure) {
  output.write(view::explain_json(snapshot, failure, JsonLayout::kPretty) + "\n");
}

void live_as_text(Output& output, const Snapshot& snapshot, const view::ExplainedDevice& device) {
  output.write(view::live_text(device, snapshot.time, output.style()));
}
void live_as_json(Output& output, const Snapshot& snapshot, const view::ExplainedDevice& device) {
  output.write(view::live_json(snapshot, device, JsonLayout::kPretty) + "\n");
}

void fit_as_text(Output& output, const Snapshot& /*snapshot*/, const view::FitAnswer& answer) {
  output.write(view::fit_text(answer, output.style()));
}
void fit_as_json(Output& output, const Snapshot& snapshot, const view::FitAnswer& answer) {
  output.write(view::fit_json(snapshot, answer, JsonLayout::kPretty) + "\n");
}

void diff_as_text(Output& output, const view::Comparison& comparison) {
  output.write(view::comparison_text(comparison, output.style()));
}
void diff_as_markdown(Output& output, const view::Comparison& comparison) {
  output.write(view::comparison_markdown(comparison));
}
void diff_as_json(Output& output, const view::Comparison& comparison) {
  output.write(view::comparison_json(comparison, JsonLayout::kPretty) + "\n");
}

void leaks_as_text(Output& output, const Snapshot& snapshot, const explain::LeakReport& report) {
  output.write(view::leaks_text(report, snapshot.time, output.style()));
}
void leaks_as_json(Output& output, const Snapshot& snapshot, const explain::LeakReport& report) {
  output.write(view::leaks_json(snapshot, report, JsonLayout::kPretty) + "\n");
}

// ---- what happened -----------------------------------------------------------------------------

void event_as_text(Output& output, const EventLine& line) {
  output.write(view::event_text(*line.event, output.style()));
}
void event_as_json(Output& output, const EventLine& line) {
  output.write(view::event_json(*line.event) + "\n");
}
void event_as_legacy(Output& output, const EventLine& line) {
  output.write(legacy::event_lines(*line.event, line.process, {line.detail}));
}

}  // namespace

// ---- the tables --------------------------------------------------------------------------------

Formats<Snapshot> status_formats() {
  static constexpr Format<Snapshot> kAll[] = {
      {"text", status_as_text}, {"json", status_as_json}, {"legacy", status_as_legacy}};
  return kAll;
}

Formats<Snapshot, std::vector<ledger::JobView>> jobs_formats() {
  static constexpr Format<Snapshot, std::vector<ledger::JobView>> kAll[] = {{"text", jobs_as_text},
                                                                            {"json", jobs_as_json}};
  return kAll;
}

Formats<Snapshot, view::Origins> origins_formats() {
  static constexpr Format<Snapshot, view::Origins> kAll[] = {{"text", origins_as_text},
                                                             {"json", origins_as_json}};
  return kAll;
}

Formats<Snapshot, std::vector<view::DeviceCores>> cores_formats() {
  static constexpr Format<Snapshot, std::vector<view::DeviceCores>> kAll[] = {
      {"text", cores_as_text}, {"json", cores_as_json}};
  return kAll;
}

Formats<Snapshot, view::DeviceCores> core_map_formats() {
  static constexpr Format<Snapshot, view::DeviceCores> kAll[] = {{"text", core_map_as_text},
                                                                 {"json", core_map_as_json}};
  return kAll;
}

Formats<Snapshot, std::vector<ledger::ProgramView>> programs_formats() {
  static constexpr Format<Snapshot, std::vector<ledger::ProgramView>> kAll[] = {
      {"text", programs_as_text}, {"json", programs_as_json}};
  return kAll;
}

Formats<Snapshot, std::vector<ledger::HoldingView>> holdings_formats() {
  static constexpr Format<Snapshot, std::vector<ledger::HoldingView>> kAll[] = {
      {"text", holdings_as_text}, {"json", holdings_as_json}};
  return kAll;
}

Formats<Snapshot, std::vector<view::ProcessFailure>> failures_formats() {
  static constexpr Format<Snapshot, std::vector<view::ProcessFailure>> kAll[] = {
      {"text", failures_as_text}, {"json", failures_as_json}};
  return kAll;
}

Formats<Snapshot, view::ExplainedFailure> explain_formats() {
  static constexpr Format<Snapshot, view::ExplainedFailure> kAll[] = {{"text", explain_as_text},
                                                                      {"json", explain_as_json}};
  return kAll;
}

Formats<Snapshot, view::ExplainedDevice> live_formats() {
  static constexpr Format<Snapshot, view::ExplainedDevice> kAll[] = {{"text", live_as_text},
                                                                     {"json", live_as_json}};
  return kAll;
}

Formats<Snapshot, view::FitAnswer> fit_formats() {
  static constexpr Format<Snapshot, view::FitAnswer> kAll[] = {{"text", fit_as_text},
                                                               {"json", fit_as_json}};
  return kAll;
}

Formats<Snapshot, explain::LeakReport> leaks_formats() {
  static constexpr Format<Snapshot, explain::LeakReport> kAll[] = {{"text", leaks_as_text},
                                                                   {"json", leaks_as_json}};
  return kAll;
}

Formats<view::Comparison> diff_formats() {
  static constexpr Format<view::Comparison> kAll[] = {
      {"text", diff_as_text}, {"markdown", diff_as_markdown}, {"json", diff_as_json}};
  return kAll;
}

Formats<EventLine> event_formats() {
  static constexpr Format<EventLine> kAll[] = {
      {"text", event_as_text}, {"json", event_as_json}, {"legacy", event_as_legacy}};
  return kAll;
}

// ---- the choice --------------------------------------------------------------------------------

void FormatChoice::offer(CLI::App& command, const std::vector<std::string>& names,
                         const std::string& help) {
  TTMEM_CHECK(!names.empty());
  name_ = names.front();
  CLI::Option* format =
      command.add_option("--format", name_, help)->type_name("NAME")->check(CLI::IsMember(names));
  command
      .add_flag_callback(
          "--json", [this] { name_ = "json"; },
          "Short for --format json, as described in docs/json.md")
      ->excludes(format);
}

void FormatChoice::require(const std::string& option, const std::vector<std::string>& names) const {
  if (std::ranges::find(names, name_) != names.end()) return;
  throw CLI::ValidationError(
      option, fmt::format("is not printed as {}: choose {}", name_, fmt::join(names, " or ")));
}

}  // namespace ttmem::cli
