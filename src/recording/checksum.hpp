// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// CRC-32 as in zip, PNG and Ethernet: finds what disks and networks break. It is no proof against
// people.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ttmem::recording {

inline std::uint32_t checksum(std::span<const std::byte> bytes) {
  static constexpr auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t word = i;
      for (int bit = 0; bit < 8; ++bit) word = (word >> 1) ^ ((word & 1) != 0 ? 0xEDB88320u : 0u);
      table[i] = word;
    }
    return table;
  }();
  std::uint32_t sum = 0xFFFFFFFFu;
  for (const std::byte byte : bytes) {
    sum = (sum >> 8) ^ kTable[(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xFFu];
  }
  return ~sum;
}

}  // namespace ttmem::recording
