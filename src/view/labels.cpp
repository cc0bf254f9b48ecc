// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/labels.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>

namespace ttmem::view {
namespace {

template <std::size_t N, typename Enum>
std::string_view pick(const std::array<std::string_view, N>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : std::string_view("unknown");
}

std::optional<std::uint8_t> coordinate(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > 255) return std::nullopt;
  return static_cast<std::uint8_t>(value);
}

}  // namespace

std::string_view title(ledger::Space space) {
  static constexpr std::array<std::string_view, 5> kNames = {"DRAM", "L1", "SYSTEM_MEMORY",
                                                             "L1_SMALL", "TRACE"};
  return pick(kNames, space);
}

std::string_view title(ledger::KernelType type) {
  static constexpr std::array<std::string_view, 3> kNames = {"Application", "Fabric", "Dispatch"};
  return pick(kNames, type);
}

std::string_view title(ledger::Arch arch) {
  static constexpr std::array<std::string_view, 5> kNames = {"Unknown", "Grayskull", "Wormhole_B0",
                                                             "Blackhole", "Quasar"};
  return pick(kNames, arch);
}

std::optional<std::uint64_t> parse_id(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<ledger::Core> parse_core(std::string_view text) {
  ledger::Core core;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    const auto type = ledger::named<ledger::CoreType>(text.substr(0, colon));
    if (!type) return std::nullopt;
    core.type = *type;
    text.remove_prefix(colon + 1);
  }
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto x = coordinate(text.substr(0, comma));
  const auto y = coordinate(text.substr(comma + 1));
  if (!x || !y) return std::nullopt;
  core.x = *x;
  core.y = *y;
  return core;
}

Amount amount(const ledger::SpaceFigures& space) {
  const bool is_part = !space.taken || space.requested.value_or(0) > *space.taken;
  if (space.requested && is_part) return {space.requested, "requested"};
  return {space.taken, "taken"};
}

ledger::Figure known_cores(const ledger::ProgramView& program) {
  const bool has_nothing = program.kernels == 0 && program.l1_allocated == 0;
  if (program.cores == 0 && !has_nothing) return std::nullopt;
  return program.cores;
}

ledger::Figure known_l1_per_core(const ledger::ProgramView& program) {
  if (program.l1_largest_core == 0 && program.l1_allocated != 0) return std::nullopt;
  return program.l1_largest_core;
}

RingBytes known_ring_bytes(const ledger::ProgramView& program) {
  RingBytes known;
  const bool told = std::ranges::any_of(program.config_bytes, std::identity{});
  if (told || program.kernels == 0) std::ranges::copy(program.config_bytes, known.begin());
  return known;
}

ledger::Figure known_cores(const ledger::HoldingView& holding) {
  if (holding.cores == 0) return std::nullopt;
  return holding.cores;
}

ledger::Figure known_binary(const ledger::HoldingView& kernel) {
  return kernel.cores == 0 ? std::nullopt : kernel.packed;
}

}  // namespace ttmem::view
