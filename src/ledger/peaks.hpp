// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What was held when a space of some devices was fullest: what live buffers hold that are not
// younger than that moment, and what such buffers have released since. Read when asked for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ledger/records.hpp"

namespace ttmem::ledger {

struct PeakMoment {
  Ticks ticks = 0;          // of the youngest buffer that was held; 0 = not known
  std::uint64_t bytes = 0;  // on each device
  std::uint64_t lost = 0;   // released since, origin forgotten
};

// Devices that always rise and fall together.
struct PeakRecord {
  std::vector<DeviceIndex> devices;
  std::array<PeakMoment, kSpaces> moments;
};

// What comes from one place and was released since the moment.
struct ReleasedShare {
  std::uint32_t peak = 0;  // index of the record
  Space space = Space::kDram;
  OriginId origin = 0;
  StringId name = 0;
  std::uint64_t bytes = 0;  // on each device
  std::uint64_t buffers = 0;
};

struct PeakRecords {
  std::vector<PeakRecord> peaks;
  std::vector<ReleasedShare> released;
};

}  // namespace ttmem::ledger
