// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The modules of this process: the program and its libraries.
#pragma once

#include <cstdint>

#include "inject/native/unwind_table.hpp"

namespace ttmem::inject::native {

struct Module {
  std::uintptr_t base = 0;  ///< what its addresses are moved by
  UnwindTable unwinding;    ///< empty if it has none
  const char* path = "";    ///< "" = the program itself; good while the module is loaded
  char build_id[65] = "";   ///< as hexadecimal text; "" = it has none
};

/// The module that has this instruction; false if none has.
bool find_module(std::uintptr_t instruction, Module& found);

/// Changes when a module is unloaded: addresses may then mean something else.
std::uint64_t unloaded_modules();

}  // namespace ttmem::inject::native
