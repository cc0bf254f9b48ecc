// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/program_l1.hpp"

#include <cstring>

namespace ttmem::client {

using segment::kCoreTypes;

bool ProgramL1::open() {
  used_ = kCoreTypes;
  return cores_.reserve(kCoreTypes * (segment::kMaxDevices + 1)) && cores_.prepare(kCoreTypes);
}

void ProgramL1::begin() {
  for (std::uint32_t type = 0; type < kCoreTypes; ++type) {
    if (touched_[type]) std::memset(&cores_[type], 0, sizeof(Cores));
    touched_[type] = false;
  }
}

void ProgramL1::add(std::uint32_t core_type, const ttmem_core_range& cores, std::uint64_t bytes) {
  if (core_type >= kCoreTypes) return;
  touched_[core_type] = true;
  for (std::uint32_t y = cores.y0; y <= cores.y1; ++y) {
    for (std::uint32_t x = cores.x0; x <= cores.x1; ++x) {
      const bool inside = x < Cores::kSide && y < Cores::kSide;
      const std::uint32_t at = inside ? y * Cores::kSide + x : Cores::kElsewhere;
      cores_[core_type].bytes[at] += static_cast<std::uint32_t>(bytes);
    }
  }
}

void ProgramL1::add_unknown_core(std::uint64_t bytes) {
  touched_[0] = true;
  cores_[0].bytes[Cores::kElsewhere] += static_cast<std::uint32_t>(bytes);
}

ProgramL1::Cores* ProgramL1::of(std::uint16_t device, std::uint32_t core_type) {
  std::uint16_t& place = place_[device][core_type];
  if (place == 0) {
    if (!cores_.prepare(used_ + 1u)) return nullptr;
    place = static_cast<std::uint16_t>(used_++);
  }
  return &cores_[place];
}

std::uint64_t ProgramL1::merge(std::uint16_t device) {
  for (std::uint32_t type = 0; type < kCoreTypes; ++type) {
    Cores* largest = touched_[type] ? of(device, type) : nullptr;
    if (largest == nullptr) continue;
    for (std::uint32_t core = 0; core < Cores::kSide * Cores::kSide; ++core) {
      const std::uint32_t bytes = cores_[type].bytes[core];
      if (bytes <= largest->bytes[core]) continue;
      sum_[device] += bytes - largest->bytes[core];
      largest->bytes[core] = bytes;
    }
  }
  return sum_[device];
}

}  // namespace ttmem::client
