// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The ends of the hooks. `ttmem_on_<id>` is called by the thunk of an ENTRY hook before the
// original runs and must not throw; `ttmem_hook_<id>` replaces the original of a FRAME hook and
// calls it. Both are named after hooks.def.
#pragma once

#include <cstdint>
#include <utility>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

/// The two integer result registers. A FRAME hook hands on whatever the original left in them, so
/// it is right for every result that fits them, and for none.
struct Returned {
  std::uint64_t low;
  std::uint64_t high;
};

/// Calls the original of a hook with these arguments.
template <typename... Arguments>
Returned call(void* original, Arguments... arguments) {
  return reinterpret_cast<Returned (*)(Arguments...)>(original)(arguments...);
}

/// Does our part of a hook. Nothing of ours may reach the host: what we cannot do is counted.
template <typename Action>
void quietly(Action&& action) noexcept {
  try {
    std::forward<Action>(action)();
  } catch (...) {
    ttmem_anomaly(TTMEM_ANOMALY_BAD_VALUE);
  }
}

}  // namespace ttmem::inject

extern "C" {
#define TTMEM_HOOK(id, manner, symbol, lost) extern void* ttmem_original_##id;
#include "inject/hooks.def"
#undef TTMEM_HOOK
}
