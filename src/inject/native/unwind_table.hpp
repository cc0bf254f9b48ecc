// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How to get from a function to its caller, out of the unwind table that every module of a C++
// program carries (.eh_frame_hdr and .eh_frame; DWARF 5, 6.4, and the x86-64 psABI). Of the
// registers only the stack and frame pointers are followed: compilers need no more. What is not
// understood is no rule. Nothing outside of the module is read.
#pragma once

#include <cstdint>
#include <span>

namespace ttmem::inject::native {

/// The frame of the caller begins at `offset` from the stack or the frame pointer; below it lie the
/// return address and, if it was saved, the frame pointer.
struct Rule {
  bool known = false;
  bool outermost = false;  ///< there is no caller
  bool by_frame_pointer = false;
  std::int32_t offset = 0;
  std::int32_t frame_pointer_at = 0;  ///< from where the caller's frame begins; 0 = as it was

  bool operator==(const Rule&) const = default;
};

/// The part of a module in memory that holds its unwind table.
struct UnwindTable {
  std::span<const std::uint8_t> memory;  ///< the mapped segment
  std::uintptr_t header = 0;             ///< address of .eh_frame_hdr in it
};

/// The rule at an instruction.
Rule rule_at(const UnwindTable& table, std::uintptr_t instruction);

}  // namespace ttmem::inject::native
