// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the cures share: naming tensors, and whether they can be moved.
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

// What must be true to free so many tensors before the operation that failed; "" = nothing.
std::string if_not_read(const Case& it, std::size_t tensors);

// Makes a cure of freeing so many tensors one of having them in DRAM.
void say_to_dram(const Case& it, std::size_t tensors, Cure& cure);

// Whether the program that copies a tensor finds its place in L1, below the lowest buffer of that
// moment. One that moves partly into its own bytes goes through L1 as a whole.
bool can_copy(const ledger::SpacePicture& from, std::uint64_t lowest);
bool can_move(const ledger::SpacePicture& space, const ledger::AddressRange& old,
              const ledger::AddressRange& moved, std::uint64_t lowest);

}  // namespace ttmem::explain
