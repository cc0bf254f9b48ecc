// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Catching up with a runtime that worked before the hooks were bound: its open chips, its meshes,
// and every buffer that an allocator has given out. Programs that were compiled before are learnt
// only when they are compiled again. No other thread may open, close, allocate or free meanwhile.
#pragma once

namespace ttmem::inject::late_attach {

/// `device_manager` is the runtime's DeviceManager. Returns the number of buffers that were found.
unsigned catch_up(const void* device_manager);

}  // namespace ttmem::inject::late_attach
