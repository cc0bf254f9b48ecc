// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Arithmetic on sizes that others wrote. Sums that grow and shrink are kept in 128 bits, where they
// are exact whatever a record says (2^32 slots of 2^64 bytes); a figure that does not fit 64 bits
// is shown as the largest number, never as a small one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace ttmem::ledger {

__extension__ using Wide = unsigned __int128;

inline constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t narrow(Wide value) {
  return value > kMost ? kMost : static_cast<std::uint64_t>(value);
}
constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) { return narrow(Wide{a} + b); }
constexpr std::uint64_t subtract(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }
// `a` is a sum over at most 2^32 records, so the product fits.
constexpr std::uint64_t times(Wide a, std::uint32_t b) { return narrow(a * b); }

// a - b for addresses; what does not fit is the nearest number that does.
constexpr std::int64_t difference(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t size = a > b ? a - b : b - a;
  const auto magnitude = static_cast<std::int64_t>(size > kMostSigned ? kMostSigned : size);
  return a >= b ? magnitude : -magnitude;
}

// The smaller of two, of which either may not be known.
inline void lower(std::optional<std::int64_t>& to, const std::optional<std::int64_t>& from) {
  if (from) to = to ? std::min(*to, *from) : *from;
}

}  // namespace ttmem::ledger
