// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// ttnn enqueues every operation from a template of that operation, so the caller's symbol names it.
#pragma once

#include <string>
#include <string_view>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

/// "MatmulDeviceOperation" from "…enqueue_mesh_workload<ttnn::prim::MatmulDeviceOperation>(…)"; ""
/// if the text is not such a template.
std::string operation_in(std::string_view demangled);

/// The interned name of the operation that called; 0 if it has none.
ttmem_string_t operation_name(const void* return_address);

}  // namespace ttmem::inject
