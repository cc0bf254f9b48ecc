// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/unnamed_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "inject/frames/lines.hpp"
#include "inject/handle_cache.hpp"
#include "inject/hooks.hpp"
#include "inject/hot_data.hpp"
#include "inject/locks.hpp"
#include "inject/operation_name.hpp"
#include "inject/scopes.hpp"

namespace ttmem::inject::unnamed_buffers {

namespace {

constexpr unsigned kMost = 4;  // results of one operation; of more, the last ones

/// Of one thread. Small, because a library that is loaded late gets little thread-local space.
struct Waiting {
  std::uint64_t id[kMost];
  std::uint16_t allocator[kMost];
  std::uint8_t space[kMost];
  std::uint32_t count;    ///< in a row; may be more than there is room for
  ttmem_origin_t origin;  ///< the Python stack of all of them; 0 = nobody tells stacks
  ttmem_origin_t named;   ///< the stack of a buffer that has a name; 0 = none
  const void* depth;      ///< where the stack of the thread ended at all of them
};
static_assert(sizeof(Waiting) <= 64);

thread_local constinit Waiting waiting __attribute__((tls_model("initial-exec"))) = {};

/// Names of operations by the address that they launch from. "None" is remembered as well.
constinit HandleCache names;
constexpr std::uint64_t kKnown = std::uint64_t{1} << 32;

[[gnu::cold, gnu::noinline]] std::uint64_t find_out_name(const void* caller) {
  const std::uint64_t known = kKnown | operation_name(caller);
  const std::lock_guard lock(locks().state);
  names.put(caller, known);
  return known;
}

ttmem_string_t name_at(const void* caller) {
  const std::uint64_t known = names.find(caller);
  return static_cast<ttmem_string_t>(known != 0 ? known : find_out_name(caller));
}

/// Which stack was told to launch from where, by hash: each is told once.
constexpr unsigned kToldBits = 12;
constinit std::atomic<std::uint64_t> told_launches[1u << kToldBits];

[[gnu::cold, gnu::noinline]] void tell_launch(ttmem_origin_t origin, const void* caller) {
  const ttmem_step step = {TTMEM_STEP_LAUNCH, name_at(caller)};
  if (step.what != 0 && ttmem_origin_here() == origin) ttmem_intern_stack(origin, &step, 1);
}

void tell_launch_once(ttmem_origin_t origin, const void* caller) {
  const std::uint64_t key = (reinterpret_cast<std::uintptr_t>(caller) ^
                             std::uint64_t{origin} << 40 ^ origin * 0xD6E8FEB86659FD93u) *
                            0x9E3779B97F4A7C15u;
  std::atomic<std::uint64_t>& place = told_launches[key >> (64 - kToldBits)];
  if (place.load(std::memory_order_relaxed) == key) [[likely]]
    return;
  place.store(key, std::memory_order_relaxed);
  tell_launch(origin, caller);
}

}  // namespace

[[gnu::hot]] void expect() { frames::forget_told(); }

[[gnu::hot]] void allocated(const ttmem_buffer& buffer) {
  const frames::Told told = frames::last_told();
  if (scopes.queue) return;
  waiting.named = told.names_operation ? told.origin : 0;
  if (told.names_operation) return;
  const void* depth = __builtin_frame_address(0);
  if (told.origin != waiting.origin || depth != waiting.depth) waiting.count = 0;
  const unsigned place = waiting.count++ % kMost;
  waiting.origin = told.origin;
  waiting.depth = depth;
  waiting.id[place] = buffer.id;
  waiting.allocator[place] = buffer.allocator;
  waiting.space[place] = buffer.space;
}

void written() { forget(); }

[[gnu::hot]] void launched(const void* caller) {
  if (waiting.named != 0) tell_launch_once(std::exchange(waiting.named, 0), caller);
  if (waiting.count == 0) return;
  const unsigned count = std::min(std::exchange(waiting.count, 0), kMost);
  const ttmem_string_t name = name_at(caller);
  if (name == 0) return;
  if (waiting.origin != 0 && ttmem_origin_here() != waiting.origin) return;
  for (unsigned i = 0; i < count; ++i) {
    recorder.followed(waiting.allocator[i], waiting.space[i], waiting.id[i], name);
  }
}

void forget() { waiting.count = waiting.named = 0; }

void forget_recorder() {
  forget();
  names.clear();
  for (auto& place : told_launches) place.store(0, std::memory_order_relaxed);
}

}  // namespace ttmem::inject::unnamed_buffers
