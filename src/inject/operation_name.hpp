// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// ttnn enqueues every operation from a function template of that operation, so the caller's symbol
// names it. The symbol is read as it is: its mangling is newer than the demanglers in use.
#pragma once

#include <string>
#include <string_view>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

/// "IndexFillOperation" from
/// "…MeshDeviceOperationAdapterINS_10operations10index_fill18IndexFillOperation…";
/// "" if the symbol is of another kind.
std::string operation_in(std::string_view mangled);

/// The interned name of the operation that called; 0 if it has none.
ttmem_string_t operation_name(const void* return_address);

}  // namespace ttmem::inject
