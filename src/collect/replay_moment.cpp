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
  return minute * kSecond + ns_of(seconds);
}

Result<ledger::TimeNs> last_mark(const Replay& replay, const Outline* known, Mark::Kind kind) {
  if (known == nullptr) {
    const auto outline = outline_of(replay.file().path(), 1);
    if (!outline) return outline.error();
    return last_mark(replay, &*outline, kind);
  }
  std::optional<ledger::TimeNs> last;
  for (const Mark& mark : known->marks) {
    if (mark.kind == kind && !mark.space) last = mark.time;
  }
  if (last) return *last;
  return Error{ErrorCode::kNotFound,
               fmt::format("{}: nothing {} in this recording", replay.file().path(),
                           kind == Mark::Kind::kFailure ? "failed" : "was held")};
}

std::optional<Result<ledger::TimeNs>> moment_of_word(const std::string& when, const Replay& replay,
                                                     const Outline* known) {
  if (when.empty() || when == "end") return replay.last();
  if (when == "start") return replay.first();
  if (when == "peak") return last_mark(replay, known, Mark::Kind::kPeak);
  if (when == "failure") return last_mark(replay, known, Mark::Kind::kFailure);
  return std::nullopt;
}

}  // namespace

Result<ledger::TimeNs> moment_named(const std::string& when, const Replay& replay,
                                    const std::string& option, const Outline* known) {
  if (auto moment = moment_of_word(when, replay, known)) return std::move(*moment);
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
                 option +
                     " must be start, end, peak, failure, +SECONDS after the start, -SECONDS "
                     "before the end, a time of day such as 14:03:07.5, or nanoseconds since 1970"};
  }
  if (*time >= replay.first() && *time <= replay.last() + kSecond) return *time;
  return Error{
      ErrorCode::kNotFound,
      fmt::format("{}: it was recorded from {} to {}, which {} is not within", replay.file().path(),
                  clock_text(replay.first()), clock_text(replay.last()), when)};
}

}  // namespace ttmem::collect
