// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/units.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace ttmem::legacy {
namespace {

constexpr double kStep = 1024;
constexpr std::array<std::string_view, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};

struct Scaled {
  double value;
  std::string_view unit;
};

// Divides until the value is below the limit.
Scaled scale(std::uint64_t bytes, double limit) {
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= limit && unit + 1 < kUnits.size(); ++unit) value /= kStep;
  return {value, kUnits[unit]};
}

}  // namespace

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:g}", static_cast<double>(bytes) / (kStep * kStep));
}

std::string kilobytes(std::uint64_t bytes) {
  return fmt::format("{:g}", static_cast<double>(bytes) / kStep);
}

std::string compact(std::uint64_t bytes) {
  const Scaled scaled = scale(bytes, kStep);
  return fmt::format("{:.1f}{}", scaled.value, scaled.unit);
}

std::string spaced(std::uint64_t bytes) {
  if (bytes == 0) return compact(0);
  const Scaled scaled = scale(bytes, kStep - 0.05);  // what would be rounded to 1024.0 goes up
  std::string number = fmt::format("{:.1f}", scaled.value);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return fmt::format("{} {}", number, scaled.unit);
}

std::string compact(const std::optional<std::uint64_t>& bytes) {
  return bytes ? compact(*bytes) : "N/A";
}

std::string spaced(const std::optional<std::uint64_t>& bytes) {
  return bytes ? spaced(*bytes) : "N/A";
}

}  // namespace ttmem::legacy
