// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The two lists that a client may ask for, in the original's layout. Kernels are also listed by
// type, which the original kept and never told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "legacy/client_book.hpp"

namespace ttmem::legacy {

struct DumpedBuffer {
  Place place;
  Buffer buffer;
  std::int32_t pid = 0;
};

struct DumpedKernel {
  Place place;
  Kernel kernel;
  std::int32_t pid = 0;
};

std::string dump_remaining(std::vector<DumpedBuffer> buffers);
std::string dump_kernels(std::vector<DumpedKernel> kernels, std::uint64_t now_ns);

}  // namespace ttmem::legacy
