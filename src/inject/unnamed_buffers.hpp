// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Buffers whose stack names no operation of ttnn: of C++ programs, of calls that go around ttnn's
// operation objects, or with lines off. The launch that follows on the same thread names them: an
// operation allocates what it writes to, one after the other in the same function, then enqueues.
// So the last buffers before a launch are named that were allocated at one depth of the stack. A
// buffer that the host fills in between is no result of a launch, and one whose Python stack is
// another than that of the launch is none of this one: both stay without a name.
//
// Where the stack does name an operation of ttnn, the same launch tells which operation of the
// device that is: once for each stack, because equal code launches the same.
#pragma once

#include "ttmem/ttmem.h"

namespace ttmem::inject::unnamed_buffers {

/// A buffer is about to be recorded on this thread, and has been.
void expect();
void allocated(const ttmem_buffer& buffer);
/// The host has written to a buffer.
void written();
/// A workload was enqueued from here.
void launched(const void* caller);
/// An enqueue failed: what it allocated is given back.
void forget();
/// After a fork: ids of the parent's recorder mean nothing.
void forget_recorder();

}  // namespace ttmem::inject::unnamed_buffers
