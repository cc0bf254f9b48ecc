// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/words.hpp"

namespace ttmem::ledger {

// Numbers come from other people's files: one that has no name is "unknown".

std::string_view name(Space space) {
  switch (space) {
    case Space::kDram:
      return "dram";
    case Space::kL1:
      return "l1";
    case Space::kSystemMemory:
      return "system_memory";
    case Space::kL1Small:
      return "l1_small";
    case Space::kTrace:
      return "trace";
  }
  return "unknown";
}

std::string_view name(CoreType type) {
  switch (type) {
    case CoreType::kTensix:
      return "tensix";
    case CoreType::kActiveEth:
      return "active_eth";
    case CoreType::kIdleEth:
      return "idle_eth";
    case CoreType::kDram:
      return "dram";
    case CoreType::kDispatch:
      return "dispatch";
  }
  return "unknown";
}

std::string_view name(Role role) {
  switch (role) {
    case Role::kWorker:
      return "worker";
    case Role::kDispatch:
      return "dispatch";
    case Role::kActiveEth:
      return "active_eth";
    case Role::kIdleEth:
      return "idle_eth";
    case Role::kDram:
      return "dram";
    case Role::kHarvested:
      return "harvested";
  }
  return "unknown";
}

std::string_view name(KernelType type) {
  switch (type) {
    case KernelType::kApplication:
      return "application";
    case KernelType::kFabric:
      return "fabric";
    case KernelType::kDispatch:
      return "dispatch";
  }
  return "unknown";
}

std::string_view name(Part part) {
  switch (part) {
    case Part::kCb:
      return "cb";
    case Part::kDataflowBuffer:
      return "dataflow_buffer";
    case Part::kScratchpad:
      return "scratchpad";
    case Part::kView:
      return "view";
  }
  return "unknown";
}

std::string_view name(Layout layout) {
  switch (layout) {
    case Layout::kInterleaved:
      return "interleaved";
    case Layout::kHeightSharded:
      return "height_sharded";
    case Layout::kWidthSharded:
      return "width_sharded";
    case Layout::kBlockSharded:
      return "block_sharded";
    case Layout::kNdSharded:
      return "nd_sharded";
    case Layout::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name(Arch arch) {
  switch (arch) {
    case Arch::kUnknown:
      return "unknown";
    case Arch::kGrayskull:
      return "grayskull";
    case Arch::kWormholeB0:
      return "wormhole_b0";
    case Arch::kBlackhole:
      return "blackhole";
    case Arch::kQuasar:
      return "quasar";
  }
  return "unknown";
}

}  // namespace ttmem::ledger
