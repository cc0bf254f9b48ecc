// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The runtime's own managers of the kernel-config ring, followed call by call. Which queue a
// manager serves shows at its first reservation, which is made inside an enqueue.
#pragma once

namespace ttmem::inject::rings {

/// A capture begins on this queue: the runtime sets the state of its rings aside.
void saved(const void* queue);
/// It ended: the state comes back.
void restored(const void* queue);

/// The rings of its queues are gone.
void mesh_closed(const void* mesh);

void forget_recorder();

}  // namespace ttmem::inject::rings
