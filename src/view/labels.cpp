// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/labels.hpp"

#include <array>

namespace ttmem::view {
namespace {

template <std::size_t N, typename Enum>
std::string_view pick(const std::array<std::string_view, N>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : std::string_view("unknown");
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

}  // namespace ttmem::view
