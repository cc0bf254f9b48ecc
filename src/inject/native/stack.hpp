// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The native stack of the calling thread, for C++ programs, on request (`ttmem run
// --native-stacks`). It is kept as modules and offsets; whoever reads the segment finds names and
// lines. Only the thread's own stack is read, between the stack pointer and its end, and the unwind
// tables of modules that are loaded.
#pragma once

#include <cstdint>

#include "ttmem/ttmem.h"

namespace ttmem::inject::native {

inline constexpr unsigned kMostNativeFrames = 64;

struct NativeStack {
  std::uintptr_t calls[kMostNativeFrames];  ///< an address in each call, the innermost first
  unsigned count = 0;
  bool whole = false;  ///< else there are more frames around
};

/// The stack of whoever calls this.
void read_stack(NativeStack& stack);

/// For ttmem_origins_from: the stack as a node inside of `around`.
ttmem_origin_t native_origin(ttmem_origin_t around);

/// Begins to tell native stacks, if the environment asks for them and nobody tells others. False:
/// not.
bool start();

}  // namespace ttmem::inject::native
