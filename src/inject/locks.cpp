// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/locks.hpp"

#include <pthread.h>

#include "inject/allocators.hpp"
#include "inject/audit.hpp"
#include "inject/children.hpp"
#include "inject/chips.hpp"
#include "inject/programs.hpp"
#include "inject/rings.hpp"
#include "inject/traces.hpp"
#include "inject/unnamed_buffers.hpp"

namespace ttmem::inject {

namespace {

void before_fork() {
  locks().audit.lock();
  locks().state.lock();
}

void in_parent() {
  locks().state.unlock();
  locks().audit.unlock();
}

void in_child() {
  children::forked();
  chips::forget_recorder();
  allocators::forget_recorder();
  programs::forget_recorder();
  traces::forget_recorder();
  rings::forget_recorder();
  audit::forget_recorder();
  unnamed_buffers::forget_recorder();
  locks().state.unlock();
  locks().audit.unlock();
}

}  // namespace

Locks& locks() {
  static Locks& locks = *new Locks;
  return locks;
}

void guard_forks() { ::pthread_atfork(before_fork, in_parent, in_child); }

}  // namespace ttmem::inject
