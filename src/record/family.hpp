// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Whether a process is another one, or was started by it or by one of its children.
#pragma once

#include <cstdint>

namespace ttmem::record {

bool is_of_family(std::int32_t pid, std::int32_t ancestor);

}  // namespace ttmem::record
