// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/children.hpp"

#include <unistd.h>

#include <atomic>

#include "inject/hooks.hpp"

namespace ttmem::inject::children {

namespace {

std::atomic<Begin> how_to_begin{nullptr};
std::atomic<bool> is_new{false};
std::atomic<pid_t> own_pid{0};

}  // namespace

void bound(Begin begin) {
  own_pid.store(::getpid());
  how_to_begin.store(begin);
}

void forked() {
  own_pid.store(::getpid());
  is_new.store(true);
}

void begin_if_new() {
  if (!is_new.load(std::memory_order_relaxed) || !is_new.exchange(false)) return;
  if (const Begin begin = how_to_begin.load()) quietly([=] { begin(true); });
}

bool is_own_process() { return own_pid.load() == ::getpid(); }

}  // namespace ttmem::inject::children
