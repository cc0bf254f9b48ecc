// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The report in a few sentences, which somebody reads who has no time for the rest.
#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "report/report.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::report {
namespace {

using view::bytes_text;
using view::count_text;

std::string date_text(ledger::TimeNs time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(time / 1'000'000'000)));
}

std::string span_text(ledger::TimeNs length) {
  return length < 10'000'000'000 ? fmt::format("{:.2f} s", static_cast<double>(length) / 1e9)
                                 : duration_text(length);
}

std::string head(const Report& report) {
  const std::string what =
      fmt::format("{} on {}{}", count_text(report.end.processes.size(), "process"),
                  count_text(report.devices.size(), "device"),
                  report.end.host.empty() ? "" : " of " + report.end.host);
  if (!report.recorded) {
    return fmt::format("{}, as of {}: {}.", report.of, date_text(report.end.time), what);
  }
  return fmt::format("{}: {} of {}, from {} to {}.", report.of,
                     span_text(report.outline.last - report.outline.first), what,
                     date_text(report.outline.first), date_text(report.outline.last));
}

std::string after_start(ledger::TimeNs time, const Report& report) {
  return span_text(time - std::min(time, report.outline.first)) + " after the start";
}

std::string when(const SpacePeak& peak, const Report& report) {
  if (peak.time == 0) return "when each process was fullest";
  return report.recorded ? after_start(peak.time, report) : "now";
}

std::string peak_sentence(const SpacePeak& peak, const Report& report) {
  std::string text =
      fmt::format("{} held at most {}", view::title(peak.space), bytes_text(peak.bytes));
  if (peak.capacity && *peak.capacity > 0) {
    text += fmt::format(" of {} ({})", bytes_text(*peak.capacity),
                        view::percent_text(peak.bytes, *peak.capacity));
  }
  text += ", " + when(peak, report);
  if (!peak.lines.rows.empty() && !peak.lines.rows.front().path.empty()) {
    const Held& most = peak.lines.rows.front();
    text += fmt::format("; the most of it by {}: {} ({})", innermost(most), bytes_text(most.bytes),
                        view::percent_text(most.bytes, peak.bytes));
  }
  return text + ".";
}

std::string core_sentence(const TightestCore& l1, const Report& report) {
  const ledger::CoreView& core = *l1.core;
  if (!core.headroom) return "";
  const std::string what = fmt::format(
      "L1 {} tightest on core {},{} of device {}{}: ", report.recorded ? "was" : "is", core.core.x,
      core.core.y, l1.device, report.recorded ? ", " + after_start(l1.time, report) : "");
  if (*core.headroom < 0) {
    return what + fmt::format("programs and buffers want the same {}.",
                              bytes_text(static_cast<std::uint64_t>(-*core.headroom)));
  }
  return what + fmt::format("{} are left between programs and buffers.",
                            bytes_text(static_cast<std::uint64_t>(*core.headroom)));
}

std::string failures_sentence(const Report& report) {
  const std::uint64_t all = report.failures.size() + report.other_failures;
  if (all == 0) return "Nothing failed.";
  std::string text = count_text(all, "failure");
  if (!report.failures.empty()) {
    const auto& last = report.failures.back();
    text += fmt::format("; the last, of {} {}: {}", last.process.name, last.process.pid,
                        last.findings.headline);
  }
  return text;
}

}  // namespace

std::vector<std::string> summarize(const Report& report) {
  std::vector<std::string> all = {head(report)};
  for (const SpacePeak& peak : report.peaks) all.push_back(peak_sentence(peak, report));
  if (report.peaks.empty()) all.emplace_back("No buffer was held.");
  if (report.l1) {
    if (std::string text = core_sentence(*report.l1, report); !text.empty())
      all.push_back(std::move(text));
  }
  all.push_back(failures_sentence(report));
  const auto died =
      std::ranges::count(report.end.processes, ledger::Ended::kDied, &ledger::ProcessView::ended);
  if (died > 0)
    all.push_back(count_text(static_cast<std::uint64_t>(died), "process") +
                  " died without closing its devices.");
  if (report.missed > 0) {
    all.push_back(
        fmt::format("{} missing: they came too fast to be recorded, or the disk was full.",
                    count_text(report.missed, "event")));
  }
  if (!report.ended) all.emplace_back("Its recorder was killed, or still records.");
  for (const std::string& problem : report.problems) all.push_back(problem);
  return all;
}

}  // namespace ttmem::report
