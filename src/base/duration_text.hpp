// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How long something took or takes, as people read it: "12 s", "5 m 03 s", "2 h 05 m", "3 d 04 h".
#pragma once

#include <cstdint>
#include <string>

namespace ttmem {

inline std::string duration_text(std::uint64_t nanoseconds) {
  const std::uint64_t seconds = nanoseconds / 1'000'000'000;
  const std::uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  const auto both = [](std::uint64_t whole, const char* unit, std::uint64_t rest,
                       const char* smaller) {
    return std::to_string(whole) + unit + (rest < 10 ? "0" : "") + std::to_string(rest) + smaller;
  };
  if (minutes == 0) return std::to_string(seconds) + " s";
  if (hours == 0) return both(minutes, " m ", seconds % 60, " s");
  if (days == 0) return both(hours, " h ", minutes % 60, " m");
  return both(days, " d ", hours % 24, " h");
}

// Of a forecast, which may be longer than any clock counts.
inline std::string duration_text_of_seconds(double seconds) {
  constexpr double kMost = 9e9;
  if (!(seconds > 0)) return duration_text(0);
  return duration_text(static_cast<std::uint64_t>((seconds < kMost ? seconds : kMost) * 1e9));
}

}  // namespace ttmem
