// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the cures share: naming tensors, and trying a move to DRAM.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/case.hpp"

namespace ttmem::explain {

struct Tensors {
  std::string text;  // "the tensor made at …", "2 of the 4 tensors made at …"
  std::string line;  // of the first one
  std::size_t blocks = 0;
  std::vector<std::uint64_t> addresses;  // the lowest 64
};
// Names blocks by their lines.
Tensors tensors_of(const Case& it, const std::vector<std::uint32_t>& blocks);

// Whether so many bytes would find a place in DRAM, even if padding doubled them.
bool fits_in_dram(const Case& it, std::uint64_t bytes);

}  // namespace ttmem::explain
