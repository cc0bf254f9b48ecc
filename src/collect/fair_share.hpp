// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Fairness between owners: what there is, in equal parts; what some do not use is for the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ttmem::collect {

// The most that each may have so that all together have at most `all`.
inline std::uint64_t fair_share(std::vector<std::uint64_t> wants, std::uint64_t all) {
  std::ranges::sort(wants);
  for (std::size_t i = 0; i < wants.size(); ++i) {
    const std::uint64_t share = all / (wants.size() - i);
    if (wants[i] > share) return share;
    all -= wants[i];
  }
  return ~std::uint64_t{0};
}

}  // namespace ttmem::collect
