// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <cstdint>

namespace ttmem::inject {

/// Records a buffer that the allocator has placed at this address.
void record_allocation(const void* allocator, const void* buffer, std::uint64_t address);

}  // namespace ttmem::inject
