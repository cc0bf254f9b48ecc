// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The observer's two locks. `state` guards what the observer remembers and is never held while the
// runtime is called. `audit` is held while the audit asks the runtime; the end of an allocator and
// fork take it, so that no allocator dies under a question and no child inherits a locked one.
// Where both are taken, audit comes first.
#pragma once

#include <mutex>

namespace ttmem::inject {

struct Locks {
  std::mutex audit;
  std::mutex state;
};

/// Never destroyed: hooks run during static destruction.
Locks& locks();

/// Registers what happens around fork: the child keeps nothing of the parent's records.
void guard_forks();

}  // namespace ttmem::inject
