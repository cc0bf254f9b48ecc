// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/past.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "collect/replay.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

constexpr ledger::TimeNs kSecond = 1'000'000'000;
// What happened at a time is there a moment later.
constexpr ledger::TimeNs kJustAfter = 1'000;

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value) ? std::optional(value)
                                                               : std::nullopt;
}

// "14:03:07" or "14:03:07.25", in local time, on the day of the recording.
std::optional<ledger::TimeNs> clock_time(const std::string& text, ledger::TimeNs day) {
  const auto start = static_cast<std::time_t>(day / kSecond);
  std::tm local{};
  int used = 0;
  double seconds = 0;
  if (::localtime_r(&start, &local) == nullptr ||
      std::sscanf(text.c_str(), "%2d:%2d:%lf%n", &local.tm_hour, &local.tm_min, &seconds, &used) <
          3 ||
      static_cast<std::size_t>(used) != text.size() || seconds < 0 || seconds >= 61) {
    return std::nullopt;
  }
  local.tm_sec = 0;
  local.tm_isdst = -1;
  const auto minute = static_cast<ledger::TimeNs>(std::mktime(&local));
  return minute * kSecond + static_cast<ledger::TimeNs>(std::llround(seconds * 1e9));
}

std::optional<ledger::TimeNs> last_failure(const ledger::Snapshot& snapshot) {
  std::optional<ledger::TimeNs> last;
  for (const auto& process : snapshot.processes) {
    for (const auto& failure : process.failures) {
      if (!last || failure.time > *last) last = failure.time;
    }
  }
  return last;
}

// The time that the word means in this recording, which stands at its end.
Result<ledger::TimeNs> time_of(const std::string& at, const collect::Collector& collector) {
  const collect::Replay& replay = *collector.replay();
  if (at.empty() || at == "end") return replay.last();
  if (at == "start") return replay.first();
  if (at == "peak") {
    auto peak = collect::find_peak(replay.file().path());
    if (!peak) return peak.error();
    return *peak + kJustAfter;
  }
  if (at == "failure") {
    const auto failure = last_failure(collector.snapshot());
    if (failure) return *failure + kJustAfter;
    return Error{ErrorCode::kNotFound, replay.file().path() + ": nothing failed in this recording"};
  }
  const auto seconds = number_in(at);
  if (seconds && at.front() == '+') {
    return replay.first() + static_cast<ledger::TimeNs>(std::llround(*seconds * 1e9));
  }
  if (seconds && at.front() == '-') {
    const auto back = static_cast<ledger::TimeNs>(std::llround(-*seconds * 1e9));
    return replay.last() - std::min(back, replay.last() - replay.first());
  }
  if (seconds && *seconds >= 0)
    return static_cast<ledger::TimeNs>(std::strtoull(at.c_str(), nullptr, 10));
  if (const auto time = clock_time(at, replay.first())) return *time;
  return Error{
      ErrorCode::kWrongKind,
      "--at must be start, end, peak, failure, +SECONDS after the start, -SECONDS before the "
      "end, a time of day such as 14:03:07.5, or nanoseconds since 1970"};
}

}  // namespace

void add_past(CLI::App& command, Past& past) {
  auto* from =
      command
          .add_option("--from", past.file, "Show a recording of `ttmem record`, not the present")
          ->type_name("FILE");
  command
      .add_option(
          "--at", past.at,
          "The moment of the recording: start, end (the default), peak, failure (the last one), "
          "+SECONDS after the start, -SECONDS before the end, or a time of day")
      ->type_name("WHEN")
      ->needs(from);
}

Result<collect::Collector> open_collector(const collect::Options& options, const Past& past) {
  if (!past) {
    collect::Collector collector(options);
    collector.refresh();
    return collector;
  }
  auto collector = collect::Collector::open_recording(past.file, options);
  if (!collector) return collector.error();
  if (past.at == "failure") collector->refresh();
  const auto time = time_of(past.at, *collector);
  if (!time) return time.error();
  const collect::Replay& replay = *collector->replay();
  if (*time < replay.first() || *time > replay.last() + kSecond) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("{}: it was recorded from {} to {}, which {} is not within", past.file,
                    view::clock_text(replay.first()), view::clock_text(replay.last()), past.at)};
  }
  collector->replay()->seek(*time);
  collector->refresh();
  return collector;
}

}  // namespace ttmem::cli
