// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The kernels of a compiled program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

struct ProgramKernels {
  std::vector<ttmem_kernel> kernels;
  /// TTMEM_KERNEL_* as the paths of their sources say it; nothing where there are no kernels.
  std::optional<std::uint8_t> type_by_source;
};

/// Asks the runtime; `device` is the IDevice it was compiled for.
ProgramKernels read_kernels(const void* program, const void* device, std::uint64_t build_key);

}  // namespace ttmem::inject
