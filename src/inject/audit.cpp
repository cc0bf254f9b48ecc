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
#include "inject/chips.hpp"
#include "inject/hooks.hpp"
#include "inject/locks.hpp"
#include "inject/metal.hpp"

namespace ttmem::inject::audit {

namespace {

using metal::functions;

constexpr std::uint32_t kSpaces[] = {TTMEM_SPACE_DRAM, TTMEM_SPACE_L1, TTMEM_SPACE_L1_SMALL,
                                     TTMEM_SPACE_TRACE};

/// What a space looked like, and whether that was told.
struct Look {
  std::uint64_t ours = ~std::uint64_t{0};
  std::uint64_t theirs = 0;
  std::uint64_t last_event = 0;
  bool settled = false;
};

struct Looks {
  Look spaces[TTMEM_SPACES];
};

std::atomic<bool> running{false};

/// The last look at each allocator; guarded by the audit lock.
std::unordered_map<ttmem_allocator_t, Looks>& looks() {
  static auto& map = *new std::unordered_map<ttmem_allocator_t, Looks>;
  return map;
}

void tell(const Allocator& allocator, std::uint32_t space, std::uint64_t ours,
          std::uint64_t theirs) {
  ttmem_audited(allocator.id, space, ours, theirs);
  if (ours != theirs) ttmem_anomaly(TTMEM_ANOMALY_AUDIT);
}

Look read(const Allocator& allocator, std::uint32_t space) {
  Look look;
  ttmem_allocator_read(allocator.id, space, &look.ours, &look.last_event);
  return look;
}

/// What the meshes around an allocator hold in lock-step, if it keeps a copy of that.
std::uint64_t mirrored(const Allocator& allocator, std::uint32_t space) {
  if (!allocator.per_core.load(std::memory_order_relaxed)) return 0;
  std::uint64_t bytes = 0;
  allocators::visit([&](const Allocator& other) {
    if (&other == &allocator || !chips::covers(other.set, allocator.set)) return;
    const Look held = read(other, space);
    if (held.last_event != 0) bytes += held.ours;
  });
  return bytes;
}

void look_at(const Allocator& allocator, std::uint32_t space, Look& before) {
  Look now = read(allocator, space);
  now.ours += mirrored(allocator, space);
  if (before.settled && before.last_event == now.last_event) return;
  const int type = static_cast<int>(space);
  now.theirs = functions.allocator_statistics(allocator.key, type).allocated;
  const bool undisturbed = read(allocator, space).last_event == now.last_event;
  const bool confirmed = before.last_event == now.last_event && before.theirs == now.theirs;
  now.settled = undisturbed && (now.ours == now.theirs || confirmed);
  if (now.settled) tell(allocator, space, now.ours, now.theirs);
  before = now;
}

void look_at(const Allocator& allocator) {
  Looks& before = looks()[allocator.id];
  for (const std::uint32_t space : kSpaces) look_at(allocator, space, before.spaces[space]);
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
  allocators::visit([](const Allocator& allocator) { look_at(allocator); });
}

void look_again(const Allocator& allocator) {
  const std::lock_guard lock(locks().audit);
  looks().erase(allocator.id);
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
