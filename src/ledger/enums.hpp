// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The enums of the ledger, with their names: what kinds of memory, cores, kernels and layouts there
// are. The numbers are those of TT-Metal, so that a source converts them by a cast.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace ttmem::ledger {

// The names of an enum as they stand in JSON, by number: "l1_small", "active_eth". Every enum that
// has names has them here or beside its definition, and nowhere else; "" is a gap in the numbers.
template <typename Enum>
inline constexpr std::nullptr_t kNamesOf = nullptr;

template <typename Enum>
concept Named = std::is_enum_v<Enum> && !std::is_null_pointer_v<decltype(kNamesOf<Enum>)>;

// Numbers come from other people's files: one without a name is "unknown".
template <Named Enum>
constexpr std::string_view name(Enum value) {
  const auto index = static_cast<std::size_t>(value);
  const bool known = index < kNamesOf<Enum>.size() && !kNamesOf<Enum>[index].empty();
  return known ? kNamesOf<Enum>[index] : "unknown";
}

template <Named Enum>
constexpr std::optional<Enum> named(std::string_view text) {
  for (std::size_t index = 0; index < kNamesOf<Enum>.size(); ++index) {
    if (!text.empty() && kNamesOf<Enum>[index] == text) return static_cast<Enum>(index);
  }
  return std::nullopt;
}

enum class Space : std::uint8_t { kDram = 0, kL1 = 1, kSystemMemory = 2, kL1Small = 3, kTrace = 4 };
inline constexpr std::size_t kSpaces = 5;
inline constexpr std::array kDeviceSpaces = {Space::kDram, Space::kL1, Space::kL1Small,
                                             Space::kTrace};
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<Space> = {"dram", "l1", "system_memory",
                                                                    "l1_small", "trace"};

enum class CoreType : std::uint8_t {
  kTensix = 0,
  kActiveEth = 1,
  kIdleEth = 2,
  kDram = 3,
  kDispatch = 4
};
inline constexpr std::size_t kCoreTypes = 5;
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<CoreType> = {
    "tensix", "active_eth", "idle_eth", "dram", "dispatch"};

enum class Role : std::uint8_t {
  kWorker = 0,
  kDispatch = 1,
  kActiveEth = 2,
  kIdleEth = 3,
  kDram = 4,
  kHarvested = 5
};
template <>
inline constexpr std::array<std::string_view, 6> kNamesOf<Role> = {
    "worker", "dispatch", "active_eth", "idle_eth", "dram", "harvested"};

enum class KernelType : std::uint8_t { kApplication = 0, kFabric = 1, kDispatch = 2 };
inline constexpr std::size_t kKernelTypes = 3;
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<KernelType> = {"application", "fabric",
                                                                         "dispatch"};

enum class Part : std::uint8_t { kCb = 0, kDataflowBuffer = 1, kScratchpad = 2, kView = 3 };
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<Part> = {"cb", "dataflow_buffer",
                                                                   "scratchpad", "view"};

enum class Layout : std::uint8_t {
  kInterleaved = 0,
  kHeightSharded = 2,
  kWidthSharded = 3,
  kBlockSharded = 4,
  kNdSharded = 5,
  kUnknown = 7
};
template <>
inline constexpr std::array<std::string_view, 8> kNamesOf<Layout> = {
    "interleaved", "", "height_sharded", "width_sharded", "block_sharded",
    "nd_sharded",  "", "unknown"};

enum class Arch : std::uint8_t {
  kUnknown = 0,
  kGrayskull = 1,
  kWormholeB0 = 2,
  kBlackhole = 3,
  kQuasar = 4
};
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<Arch> = {
    "unknown", "grayskull", "wormhole_b0", "blackhole", "quasar"};

// Kinds of reports that could not be matched, by the numbers of a segment.
inline constexpr std::array<std::string_view, 16> kAnomalyNames = {
    "unknown_free",  "replaced",     "unknown_allocator", "unknown_program", "unknown_workload",
    "unknown_trace", "bad_value",    "in_signal",         "table_full",      "intern_full",
    "limit",         "stale_handle", "kind_by_source",    "audit",           "overlap",
    "second_runtime"};
// Reports that name a buffer, by its id.
inline bool is_about_a_buffer(std::string_view anomaly) {
  return anomaly == kAnomalyNames[0] || anomaly == kAnomalyNames[1];
}
inline std::string anomaly_name(std::size_t kind) {  // "anomaly_16": of a later version
  const bool known = kind < kAnomalyNames.size();
  return known ? std::string(kAnomalyNames[kind]) : "anomaly_" + std::to_string(kind);
}

// A processor of a core; "" = not known.
inline std::string_view processor_name(std::uint8_t processor) {
  constexpr std::array<std::string_view, 6> kNames = {"brisc",  "ncrisc", "trisc0",
                                                      "trisc1", "trisc2", "compute"};
  return processor < kNames.size() ? kNames[processor] : "";
}

// One core of a device: logical coordinates within the cores of its type.
struct Core {
  CoreType type = CoreType::kTensix;
  std::uint8_t x = 0;
  std::uint8_t y = 0;
  friend auto operator<=>(const Core&, const Core&) = default;
};

}  // namespace ttmem::ledger
