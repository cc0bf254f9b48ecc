// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The kernels of a compiled program.
#pragma once

#include <cstdint>
#include <vector>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

/// What the source paths of a program's kernels say about its kind.
enum class SourceKind { kNone, kApplication, kFabric, kDispatch };

struct ProgramKernels {
  std::vector<ttmem_kernel> kernels;
  SourceKind kind = SourceKind::kNone;
};

/// Asks the runtime; `device` is the IDevice it was compiled for.
ProgramKernels read_kernels(const void* program, const void* device, std::uint64_t build_key);

}  // namespace ttmem::inject
