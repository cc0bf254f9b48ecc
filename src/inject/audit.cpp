// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/audit.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "inject/allocators.hpp"
#include "inject/hooks.hpp"
#include "inject/locks.hpp"
#include "inject/metal.hpp"

namespace ttmem::inject::audit {

namespace {

using metal::functions;

constexpr std::uint32_t kSpaces[] = {TTMEM_SPACE_DRAM, TTMEM_SPACE_L1, TTMEM_SPACE_L1_SMALL,
                                     TTMEM_SPACE_TRACE};

struct Look {
  std::uint64_t events = 0;
  std::int64_t difference[TTMEM_SPACES] = {};
  bool settled = false;  ///< equal, or told to differ: nothing to do until the next event
};

std::atomic<bool> running{false};

/// The last look at each allocator; guarded by the audit lock.
std::unordered_map<ttmem_allocator_t, Look>& looks() {
  static auto& map = *new std::unordered_map<ttmem_allocator_t, Look>;
  return map;
}

void tell(const Allocator& allocator, std::uint32_t space, std::uint64_t ours,
          std::uint64_t theirs) {
  ttmem_audited(allocator.id, space, ours, theirs);
  if (ours != theirs) ttmem_anomaly(TTMEM_ANOMALY_AUDIT);
}

/// True if it is the same as last time, so that it may be told.
bool compare(const Allocator& allocator, std::uint32_t space, Look& now, const Look& before) {
  const int type = static_cast<int>(space);
  const std::uint64_t ours = allocator.taken[space].load();
  const std::uint64_t theirs = functions.allocator_statistics(allocator.key, type).allocated;
  now.difference[space] = static_cast<std::int64_t>(ours - theirs);
  const bool confirmed =
      now.events == before.events && now.difference[space] == before.difference[space];
  if (ours != theirs && !confirmed) return false;
  if (allocator.events.load() != now.events) return false;
  tell(allocator, space, ours, theirs);
  return true;
}

void look_at(const Allocator& allocator) {
  Look& before = looks()[allocator.id];
  Look now;
  now.events = allocator.events.load();
  if (before.settled && before.events == now.events) return;
  now.settled = true;
  for (const std::uint32_t space : kSpaces) {
    if (!compare(allocator, space, now, before)) now.settled = false;
  }
  before = now;
}

void* run(void*) {
  for (;;) {
    const timespec second = {1, 0};
    ::nanosleep(&second, nullptr);
    quietly(look);
  }
  return nullptr;
}

}  // namespace

void look() {
  if (!functions.allocator_statistics) return;
  const std::lock_guard lock(locks().audit);
  allocators::visit(look_at);
}

void start() {
  if (running.exchange(true)) return;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  if (::pthread_create(&thread, &attributes, run, nullptr) == 0) {
    ::pthread_setname_np(thread, "ttmem-audit");
  } else {
    running.store(false);
  }
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void forget_recorder() {
  running.store(false);
  looks().clear();
}

}  // namespace ttmem::inject::audit
