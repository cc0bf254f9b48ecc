// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The one entry of libttmem_observer.so: takes the table of slots, begins to record, says what is
// bound.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "inject/audit.hpp"
#include "inject/children.hpp"
#include "inject/frames/lines.hpp"
#include "inject/hooks.hpp"
#include "inject/hot_data.hpp"
#include "inject/late_attach.hpp"
#include "inject/library_version.hpp"
#include "inject/locks.hpp"
#include "inject/metal.hpp"
#include "inject/native/stack.hpp"
#include "inject/preload/slots.h"

extern "C" {
#define TTMEM_HOOK(id, manner, symbol, lost) TTMEM_HOT_DATA void* ttmem_original_##id = nullptr;
#include "inject/hooks.def"
#undef TTMEM_HOOK

#define ENTRY_TARGET(id) void ttmem_thunk_##id(void);
#define ENTRY_OF_2_TARGET(id) ENTRY_TARGET(id)
#define FRAME_TARGET(id) void ttmem_hook_##id##_declared(void) __asm__("ttmem_hook_" #id);
#define TTMEM_HOOK(id, manner, symbol, lost) manner##_TARGET(id)
#include "inject/hooks.def"
#undef TTMEM_HOOK
#undef ENTRY_TARGET
#undef ENTRY_OF_2_TARGET
#undef FRAME_TARGET
}

namespace ttmem::inject {

// In the order of an operation, on one cache line.
alignas(64) TTMEM_HOT_DATA constinit RecorderCalls recorder = {
    ttmem_buffer_allocated_, ttmem_buffer_freed_, ttmem_buffer_followed,
    ttmem_ring_launched,     ttmem_dispatched_,   &ttmem_active_};

namespace {

struct Hook {
  const char* name;  ///< as `ttmem doctor` calls it
  const char* symbol;
  void (*target)();
  void** original;
  const char* either;  ///< one bound hook with this text is enough; null = it is needed itself
};

const Hook kHooks[] = {
#define ENTRY_TARGET(id) ttmem_thunk_##id
#define ENTRY_OF_2_TARGET(id) ENTRY_TARGET(id)
#define FRAME_TARGET(id) ttmem_hook_##id##_declared
#define TTMEM_HOOK(id, manner, symbol, lost) \
  {#id, #symbol, manner##_TARGET(id), &ttmem_original_##id, nullptr},
#define TTMEM_EITHER(id, manner, symbol, lost) \
  {#id, #symbol, manner##_TARGET(id), &ttmem_original_##id, lost},
#include "inject/hooks.def"
#undef TTMEM_HOOK
#undef ENTRY_TARGET
#undef ENTRY_OF_2_TARGET
#undef FRAME_TARGET
};
constexpr std::size_t kHookCount = sizeof kHooks / sizeof kHooks[0];
static_assert(kHookCount <= 128, "the process publishes 128 bits");

const ttmem_hook_slot* slot_of(const Hook& hook, const ttmem_hook_slot* slots, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if (std::strcmp(slots[i].name, hook.symbol) == 0) return &slots[i];
  }
  return nullptr;
}

/// Learns every original before the first target is set: a hook may run as soon as it is bound.
void* learn_originals(const ttmem_hook_slot* slots, unsigned count) {
  void* anchor = nullptr;
  for (const Hook& hook : kHooks) {
    const ttmem_hook_slot* slot = slot_of(hook, slots, count);
    *hook.original = slot ? slot->original : nullptr;
    if (*hook.original) anchor = *hook.original;
  }
  return anchor;
}

std::string names() {
  std::string text;
  for (const Hook& hook : kHooks) text.append(hook.name).push_back('\n');
  text.pop_back();
  return text;
}

/// A stand-in for the kernel compiler says so in a file beside it: sizes are then not true ones.
bool has_stand_in_compiler() {
  const std::string& library = metal::library_path();
  const auto package = library.rfind("/build/lib/");
  if (package == library.npos) return false;
  const std::string marker = library.substr(0, package) + "/runtime/sfpi/compiler/bin/stand-in";
  return ::access(marker.c_str(), F_OK) == 0;
}

/// Releases before 0.76 have no scratchpads: then nothing is lost.
bool has_scratchpads() {
  return metal::functions.kernel_scratchpads || metal::functions.kernel_scratchpads_before_081;
}

/// Whether the runtime answers what the hook must ask.
bool is_answered(const Hook& hook) {
#define TTMEM_NEEDS(id, function) \
  if (hook.original == &ttmem_original_##id && !metal::functions.function) return false;
#include "inject/hook_needs.def"
#undef TTMEM_NEEDS
  return true;
}

/// Whether its absence costs something.
bool is_wanted(const Hook& hook) {
  if (hook.original == &ttmem_original_allocate_scratchpads) return has_scratchpads();
  if (!hook.either || *hook.original) return true;
  for (const Hook& other : kHooks) {
    if (other.either && *other.original && std::strcmp(other.either, hook.either) == 0)
      return false;
  }
  return true;
}

void describe_process(bool attached_late) {
  const std::string hooks = names();
  const std::string version = version_of_library(metal::library_path());
  ttmem_process_info info = {};
  info.struct_size = sizeof info;
  info.source = TTMEM_SOURCE_INJECTOR;
  info.attached_late = attached_late;
  info.stand_in_kernels = has_stand_in_compiler();
  info.runtime_version = version.empty() ? nullptr : version.c_str();
  info.runtime_library = metal::library_path().c_str();
  info.hook_names = hooks.c_str();
  for (std::size_t i = 0; i < kHookCount; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    if (is_wanted(kHooks[i])) info.hooks_wanted[i / 64] |= bit;
    if (*kHooks[i].original && is_answered(kHooks[i])) info.hooks_bound[i / 64] |= bit;
  }
  info.lines = frames::lines_state();
  info.lines_reason = frames::lines_reason();
  ttmem_process_described(&info);
}

void describe_again() {
  quietly([] { describe_process(false); });
}

void begin(bool attached_late) {
  describe_process(attached_late);
  audit::start();
}

void set_targets(ttmem_hook_slot* slots, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    for (const Hook& hook : kHooks) {
      if (!slots[i].original || std::strcmp(slots[i].name, hook.symbol) != 0) continue;
      __atomic_store_n(&slots[i].target, reinterpret_cast<void*>(hook.target), __ATOMIC_RELEASE);
    }
  }
}

}  // namespace
}  // namespace ttmem::inject

extern "C" __attribute__((visibility("default"))) int ttmem_observer_bind(ttmem_hook_slot* slots,
                                                                          unsigned count) {
  using namespace ttmem::inject;
  int failed = EINVAL;
  quietly([&] {
    void* anchor = learn_originals(slots, count);
    if (!anchor) return;
    metal::load(anchor);
    failed = ttmem_open();
    if (failed) return;
    native::start();
    begin(false);
    children::bound(begin);
    frames::when_lines_change(describe_again);
    guard_forks();
    set_targets(slots, count);
  });
  return failed;
}

// Between vfork and exec it is the parent's memory, and the parent does not leave.
extern "C" __attribute__((visibility("default"))) void ttmem_observer_leaving(void) {
  if (ttmem::inject::children::is_own_process()) ttmem_close();
}

extern "C" __attribute__((visibility("default"))) void ttmem_observer_second_runtime(void) {
  ttmem_anomaly(TTMEM_ANOMALY_SECOND_RUNTIME);
}

// The process is told although no hook will ever be called: else nobody would know of it.
extern "C" __attribute__((visibility("default"))) void ttmem_observer_unreached(void) {
  ttmem_process_info info = {};
  info.struct_size = sizeof info;
  info.source = TTMEM_SOURCE_INJECTOR;
  info.unreached = 1;
  ttmem_process_described(&info);
}

extern "C" __attribute__((visibility("default"))) unsigned ttmem_observer_attach(
    const void* device_manager) {
  using namespace ttmem::inject;
  unsigned buffers = 0;
  quietly([&] {
    describe_process(true);
    buffers = late_attach::catch_up(device_manager);
  });
  return buffers;
}
