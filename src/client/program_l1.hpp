// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The peak of program L1: per device, the sum over cores of the largest program L1 that was ever
// dispatched there. It changes only when a program is loaded, so it is kept here, not by readers.
#pragma once

#include <cstdint>

#include "client/private_memory.hpp"
#include "segment/format.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

class ProgramL1 {
 public:
  bool open();
  void give_back() { cores_.give_back(); }

  // One program: begin, add its ranges, then merge it into each of its devices.
  void begin();
  void add(std::uint32_t core_type, const ttmem_core_range& cores, std::uint64_t bytes);
  void add_unknown_core(std::uint64_t bytes);  // counted as one core
  // Returns the device's new sum.
  std::uint64_t merge(std::uint16_t device);

 private:
  // Bytes by core of one core type. A core beyond the grid shares the last place.
  struct Cores {
    static constexpr std::uint32_t kSide = 32;
    static constexpr std::uint32_t kElsewhere = kSide * kSide - 1;
    std::uint32_t bytes[kSide * kSide];
  };
  Cores* of(std::uint16_t device, std::uint32_t core_type);

  PrivateArray<Cores> cores_;  // the program's own, one a core type, then those of devices
  std::uint32_t used_ = 0;
  std::uint16_t place_[segment::kMaxDevices][segment::kCoreTypes] = {};  // in cores_; 0 = none yet
  std::uint64_t sum_[segment::kMaxDevices] = {};
  bool touched_[segment::kCoreTypes] = {};
};

}  // namespace ttmem::client
