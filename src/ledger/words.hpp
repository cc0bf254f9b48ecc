// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The words of the ledger: what kinds of memory, cores, kernels and layouts there are. The numbers
// are those of TT-Metal, so that a source converts them by a cast.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace ttmem::ledger {

enum class Space : std::uint8_t { kDram = 0, kL1 = 1, kSystemMemory = 2, kL1Small = 3, kTrace = 4 };
inline constexpr std::size_t kSpaces = 5;
inline constexpr std::array kDeviceSpaces = {Space::kDram, Space::kL1, Space::kL1Small,
                                             Space::kTrace};

enum class CoreType : std::uint8_t {
  kTensix = 0,
  kActiveEth = 1,
  kIdleEth = 2,
  kDram = 3,
  kDispatch = 4
};
inline constexpr std::size_t kCoreTypes = 5;

enum class Role : std::uint8_t {
  kWorker = 0,
  kDispatch = 1,
  kActiveEth = 2,
  kIdleEth = 3,
  kDram = 4,
  kHarvested = 5
};

enum class KernelType : std::uint8_t { kApplication = 0, kFabric = 1, kDispatch = 2 };
inline constexpr std::size_t kKernelTypes = 3;

enum class Part : std::uint8_t { kCb = 0, kDataflowBuffer = 1, kScratchpad = 2, kView = 3 };

enum class Layout : std::uint8_t {
  kInterleaved = 0,
  kHeightSharded = 2,
  kWidthSharded = 3,
  kBlockSharded = 4,
  kNdSharded = 5,
  kUnknown = 7
};

enum class Arch : std::uint8_t {
  kUnknown = 0,
  kGrayskull = 1,
  kWormholeB0 = 2,
  kBlackhole = 3,
  kQuasar = 4
};

// Lower-case names as they stand in JSON: "l1_small", "active_eth", "wormhole_b0".
std::string_view name(Space space);
std::string_view name(CoreType type);
std::string_view name(Role role);
std::string_view name(KernelType type);
std::string_view name(Part part);
std::string_view name(Layout layout);
std::string_view name(Arch arch);

// One core of a device: logical coordinates within the cores of its type.
struct Core {
  CoreType type = CoreType::kTensix;
  std::uint8_t x = 0;
  std::uint8_t y = 0;
  friend auto operator<=>(const Core&, const Core&) = default;
};

}  // namespace ttmem::ledger
