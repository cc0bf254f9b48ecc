// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <chrono>
#include <cstdint>

namespace ttmem::legacy {

// Nanoseconds since the epoch.
inline std::uint64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace ttmem::legacy
