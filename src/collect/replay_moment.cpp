// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From what people write to a moment of a recording.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "collect/replay_outline.hpp"

namespace ttmem::collect {

namespace {

constexpr ledger::TimeNs kSecond = 1'000'000'000;

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value) ? std::optional(value)
                                                               : std::nullopt;
}

ledger::TimeNs ns_of(double seconds) {
  return static_cast<ledger::TimeNs>(std::llround(std::min(std::abs(seconds), 1e9) * 1e9));
}

std::string clock_text(ledger::TimeNs time) {
  const auto seconds = static_cast<std::time_t>(time / kSecond);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:02}:{:02}:{:02}.{:03}", local.tm_hour, local.tm_min, local.tm_sec,
                     time % kSecond / 1'000'000);
}

// "14:03", "14:03:07" or "14:03:07.25", in local time: the first that comes, for a recording that
// began in the evening goes on after midnight.
std::optional<ledger::TimeNs> clock_time(const std::string& text, ledger::TimeNs first) {
  const auto start = static_cast<std::time_t>(first / kSecond);
  std::tm local{};
  int minute_end = 0;
  int second_end = 0;
  double seconds = 0;
  if (::localtime_r(&start, &local) == nullptr ||
      std::sscanf(text.c_str(), "%2d:%2d%n:%lf%n", &local.tm_hour, &local.tm_min, &minute_end,
                  &seconds, &second_end) < 2 ||
      static_cast<std::size_t>(std::max(minute_end, second_end)) != text.size() ||
      local.tm_hour < 0 || local.tm_hour > 23 || local.tm_min < 0 || local.tm_min > 59 ||
      seconds < 0 || seconds >= 61) {
    return std::nullopt;
  }
  local.tm_sec = 0;
  const auto on_day = [&](int days_later) {
    std::tm day = local;
    day.tm_mday += days_later;
    day.tm_isdst = -1;
    return static_cast<ledger::TimeNs>(std::mktime(&day)) * kSecond + ns_of(seconds);
  };
  const ledger::TimeNs time = on_day(0);
  return time < first ? on_day(1) : time;
}

Result<ledger::TimeNs> last_mark(const Replay& replay, const Outline* known, const GoOn& go_on,
                                 Mark::Kind kind) {
  if (known == nullptr) {
    const auto outline = outline_of(replay, 1, go_on);
    if (!outline) return outline.error();
    return last_mark(replay, &*outline, go_on, kind);
  }
  std::optional<ledger::TimeNs> last;
  for (const Mark& mark : known->marks) {
    if (mark.kind == kind && !mark.space) last = mark.time;
  }
  if (last) return *last;
  const std::string& path = replay.file().path();
  if (kind != Mark::Kind::kFailure) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: nothing was held in this recording", path)};
  }
  return Error{
      ErrorCode::kNotFound,
      fmt::format("{0}: nothing failed while this was recorded; `ttmem explain --from {0}` "
                  "tells what failed before, if anything did",
                  path)};
}

std::optional<Result<ledger::TimeNs>> moment_of_word(const std::string& when, const Replay& replay,
                                                     const Outline* known, const GoOn& go_on) {
  if (when.empty() || when == "end") return replay.last();
  if (when == "start") return replay.first();
  if (when == "peak") return last_mark(replay, known, go_on, Mark::Kind::kPeak);
  if (when == "failure") return last_mark(replay, known, go_on, Mark::Kind::kFailure);
  return std::nullopt;
}

}  // namespace

Result<ledger::TimeNs> moment_named(const std::string& when, const Replay& replay,
                                    const Outline* known, const GoOn& go_on) {
  if (auto moment = moment_of_word(when, replay, known, go_on)) return std::move(*moment);
  const auto seconds = number_in(when);
  std::optional<ledger::TimeNs> time;
  if (seconds && when.front() == '+') {
    time = replay.first() + ns_of(*seconds);
  } else if (seconds && when.front() == '-') {
    time = replay.last() - std::min(ns_of(*seconds), replay.last() - replay.first());
  } else if (seconds && *seconds >= 0) {
    time = std::strtoull(when.c_str(), nullptr, 10);
  } else {
    time = clock_time(when, replay.first());
  }
  if (!time) {
    return Error{ErrorCode::kWrongKind,
                 "a moment is start, end, peak, failure, +SECONDS after the start, -SECONDS before "
                 "the end, a time of day such as 14:03:07.5, or nanoseconds since 1970"};
  }
  if (*time >= replay.first() && *time <= replay.last() + kSecond) return *time;
  return Error{
      ErrorCode::kNotFound,
      fmt::format("{}: it was recorded from {} to {}, which {} is not within", replay.file().path(),
                  clock_text(replay.first()), clock_text(replay.last()), when)};
}

}  // namespace ttmem::collect
