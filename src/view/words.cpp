// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/words.hpp"

#include <array>

#include <fmt/format.h>

namespace ttmem::view {
namespace {

template <std::size_t N, typename Enum>
std::string_view pick(const std::array<std::string_view, N>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : std::string_view("unknown");
}

}  // namespace

std::string_view name(ledger::Ended ended) {
  static constexpr std::array<std::string_view, 4> kNames = {"alive", "closed", "died", "exec"};
  return pick(kNames, ended);
}

std::string_view name(ledger::Source source) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "api", "injector", "patched", "legacy", "upstream", "estimate", "procfs", "daemon"};
  return pick(kNames, source);
}

std::string_view name(ledger::HoldingKind kind) {
  static constexpr std::array<std::string_view, 5> kNames = {"buffer", "program", "kernel", "range",
                                                             "trace"};
  return pick(kNames, kind);
}

std::string_view name(ledger::Stretch stretch) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "fixed", "ring", "program_l1", "gap", "free", "buffer", "l1_small", "unknown"};
  return pick(kNames, stretch);
}

std::string_view name(ledger::Basis basis) {
  static constexpr std::array<std::string_view, 3> kNames = {"blocks", "requested", "mixed"};
  return pick(kNames, basis);
}

std::string_view name(ledger::PeakBasis basis) {
  static constexpr std::array<std::string_view, 2> kNames = {"exact", "observed"};
  return pick(kNames, basis);
}

std::string_view processor_name(std::uint8_t processor) {
  static constexpr std::array<std::string_view, 6> kNames = {"brisc",  "ncrisc", "trisc0",
                                                             "trisc1", "trisc2", "compute"};
  return processor < kNames.size() ? kNames[processor] : std::string_view();
}

std::string anomaly_name(std::size_t kind) {
  static constexpr std::array<std::string_view, 16> kNames = {
      "unknown_free",  "replaced",     "unknown_allocator", "unknown_program", "unknown_workload",
      "unknown_trace", "bad_value",    "in_signal",         "table_full",      "intern_full",
      "limit",         "stale_handle", "kind_by_source",    "audit",           "overlap",
      "second_runtime"};
  return kind < kNames.size() ? std::string(kNames[kind]) : fmt::format("anomaly_{}", kind);
}

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
