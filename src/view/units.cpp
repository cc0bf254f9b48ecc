// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/units.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace ttmem::view {
namespace {

constexpr double kStep = 1024.0;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

struct Scaled {
  double value;
  std::size_t unit;
};

// Divides until the value, rounded to one decimal, has fewer than four digits before the point.
Scaled scale(std::uint64_t bytes) {
  Scaled scaled{static_cast<double>(bytes), 0};
  while (scaled.value >= kStep - 0.05 && scaled.unit + 1 < kUnits.size()) {
    scaled.value /= kStep;
    ++scaled.unit;
  }
  return scaled;
}

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                   : static_cast<std::uint64_t>(value);
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const Scaled scaled = scale(bytes);
  return fmt::format("{:.1f} {}", scaled.value, kUnits[scaled.unit]);
}

std::string bytes_text(const ledger::Figure& bytes) { return bytes ? bytes_text(*bytes) : "?"; }

std::string signed_bytes_text(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + bytes_text(magnitude(bytes));
}

std::string exact_text(std::uint64_t bytes) {
  std::string digits = std::to_string(bytes);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string exact_text(const ledger::Figure& bytes) { return bytes ? exact_text(*bytes) : "?"; }

std::string signed_exact_text(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + exact_text(magnitude(bytes));
}

std::optional<std::uint64_t> bytes_in(std::string_view text) {
  double value = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (read.ec != std::errc() || std::signbit(value) || !std::isfinite(value)) return std::nullopt;
  std::string unit;
  for (const char letter : std::string_view(read.ptr, text.data() + text.size())) {
    unit += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  unit.erase(0, unit.find_first_not_of(' '));
  if (unit.ends_with('B')) unit.pop_back();
  const std::size_t power = std::string_view(" KMGTP").find(unit.empty() ? ' ' : unit.front());
  const bool known = unit.size() < 2 || (unit.size() == 2 && unit[0] != ' ' && unit[1] == 'I');
  if (power == std::string_view::npos || !known) return std::nullopt;
  value *= std::pow(kStep, power);
  constexpr double kBeyond = 18446744073709551616.0;  // 2^64
  if (value >= kBeyond) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::string count_text(std::uint64_t count, std::string_view noun) {
  const char* several = noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : several);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "?";
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string hex_text(std::uint64_t value) { return fmt::format("{:#x}", value); }

std::string hex_text(const ledger::Figure& value) { return value ? hex_text(*value) : "?"; }

std::string told_id_text(std::uint64_t id) { return id < kFirstOwnId ? hex_text(id) : "-"; }

std::string unique_id_text(std::uint64_t value) { return fmt::format("{:#018x}", value); }

std::string age_text(ledger::TimeNs then, ledger::TimeNs now) {
  if (then == 0) return "-";
  return duration_text(now > then ? now - then : 0);
}

std::string launch_age_text(const ledger::Figure& dispatches, ledger::TimeNs then,
                            ledger::TimeNs now) {
  return dispatches ? age_text(then, now) : "?";
}

std::string clock_text(ledger::TimeNs time) {
  const auto seconds = static_cast<std::time_t>(time / kNsPerSecond);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:02}:{:02}:{:02}.{:06}", local.tm_hour, local.tm_min, local.tm_sec,
                     time % kNsPerSecond / 1000);
}

}  // namespace ttmem::view
