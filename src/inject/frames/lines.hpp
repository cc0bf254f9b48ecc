// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Whether lines of Python are told, for ttmem_process_info. lines.h has what Python calls.
#pragma once

#include <cstdint>

#include "ttmem/ttmem.h"

namespace ttmem::inject::frames {

/// What the recorder was last told of the stack of this thread.
struct Told {
  ttmem_origin_t origin;  ///< 0 = nothing
  bool names_operation;   ///< it goes through an operation of ttnn
};
Told last_told();
void forget_told();

/// For ttmem_process_info.
std::uint32_t lines_state();
const char* lines_reason();
/// Called after each change of the two; null = nobody.
void when_lines_change(void (*action)());

}  // namespace ttmem::inject::frames
