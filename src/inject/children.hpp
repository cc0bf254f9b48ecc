// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Children by fork. A child begins with an empty recorder and the runtime as its parent left it. If
// it goes on using that runtime, the process is described again, audited again, and told to be
// partial: buffers are read from the allocators that it uses, programs of before are not known.
#pragma once

namespace ttmem::inject::children {

/// How a process is described to the recorder, and what else begins with it.
using Begin = void (*)(bool attached_late);

/// In the process that binds the hooks.
void bound(Begin begin);
/// In a child, before anything else of it.
void forked();

/// Before the first device is told to the recorder: a child describes itself.
void begin_if_new();

/// False between vfork and exec, where the memory is the parent's.
bool is_own_process();

}  // namespace ttmem::inject::children
