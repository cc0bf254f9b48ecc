// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/native/stack.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "inject/frames/lines.hpp"
#include "inject/frames/origin_cache.hpp"
#include "inject/frames/stack_key.hpp"
#include "inject/native/modules.hpp"

namespace ttmem::inject::native {

namespace {

using Address = std::uintptr_t;

/// Frames of ours, which lie below those of the program, are walked and not told.
constexpr unsigned kMostWalked = kMostNativeFrames + 16;

/// Where the stack of this thread lies. It is asked once: for the first thread that reads a file.
struct Bounds {
  Address low, high;  ///< high 0 = not asked yet
};
thread_local constinit Bounds bounds __attribute__((tls_model("initial-exec"))) = {};

void ask_bounds() {
  bounds = {1, 1};
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (::pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    bounds = {reinterpret_cast<Address>(low), reinterpret_cast<Address>(low) + bytes};
  }
  ::pthread_attr_destroy(&attributes);
}

/// Rules by instruction. Read and written without a lock: an entry binds its rule to its
/// instruction, and to how many modules were unloaded by then.
class Rules {
 public:
  Rule at(Address instruction, std::uint64_t unloaded) {
    Entry& entry = entries_[(instruction ^ instruction >> 13) % kPlaces];
    const std::uint64_t packed = __atomic_load_n(&entry.rule, __ATOMIC_RELAXED);
    const std::uint64_t check = __atomic_load_n(&entry.check, __ATOMIC_RELAXED);
    if (check == bind(instruction, unloaded, packed) && packed != 0) return unpack(packed);
    Module module;
    const bool has = find_module(instruction, module) && module.unwinding.header != 0;
    const Rule rule = has ? rule_at(module.unwinding, instruction) : Rule{};
    const std::uint64_t found = pack(rule);
    __atomic_store_n(&entry.rule, found, __ATOMIC_RELAXED);
    __atomic_store_n(&entry.check, bind(instruction, unloaded, found), __ATOMIC_RELAXED);
    return unpack(found);
  }

 private:
  struct Entry {
    std::uint64_t rule;
    std::uint64_t check;
  };
  static constexpr std::size_t kPlaces = 1u << 12;
  static constexpr std::uint64_t kUsed = 1, kKnown = 2, kOutermost = 4, kByFramePointer = 8;

  static std::uint64_t bind(Address instruction, std::uint64_t unloaded, std::uint64_t rule) {
    return (instruction ^ unloaded << 48 ^ rule) * 0x9E3779B97F4A7C15u + rule;
  }
  // Offsets in words, 28 bits each; what does not fit is no rule.
  static bool fits(std::int32_t offset) {
    return offset % 8 == 0 && offset / 8 >= -(1 << 27) && offset / 8 < 1 << 27;
  }
  static std::uint64_t pack(const Rule& rule) {
    if (!rule.known || !fits(rule.offset) || !fits(rule.frame_pointer_at)) return kUsed;
    const auto word = [](std::int32_t offset) {
      return std::uint64_t{static_cast<std::uint32_t>(offset / 8) & 0xFFFFFFFu};
    };
    return kUsed | kKnown | (rule.outermost ? kOutermost : 0) |
           (rule.by_frame_pointer ? kByFramePointer : 0) | word(rule.offset) << 4 |
           word(rule.frame_pointer_at) << 32;
  }
  static Rule unpack(std::uint64_t packed) {
    const auto offset = [&](unsigned shift) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(packed >> shift) << 4) >> 4 << 3;
    };
    return {(packed & kKnown) != 0, (packed & kOutermost) != 0, (packed & kByFramePointer) != 0,
            offset(4), offset(32)};
  }

  Entry entries_[kPlaces] = {};
};

constinit Rules rules;
constinit frames::OriginCache known_stacks;

/// A word of the stack, if it lies there.
bool read_word(Address at, Address low, Address& value) {
  if (at < low || at % sizeof value != 0 || at > bounds.high - sizeof value) return false;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): between the stack pointer and the end of the stack
  value = *reinterpret_cast<const Address*>(at);
  return true;
}

struct Registers {
  Address call;  ///< an address in the call that is under way
  Address stack;
  Address frame;
};

/// To the caller. False: there is none, or nobody knows.
bool step(Registers& at, std::uint64_t unloaded, bool& whole) {
  const Rule rule = rules.at(at.call, unloaded);
  whole = rule.outermost;
  if (!rule.known || rule.outermost) return false;
  const Address base = rule.by_frame_pointer ? at.frame : at.stack;
  const Address top = base + static_cast<Address>(std::int64_t{rule.offset});
  Address back = 0;
  if (top <= at.stack || !read_word(top - sizeof back, at.stack, back)) return false;
  if (rule.frame_pointer_at != 0) {
    const Address saved = top + static_cast<Address>(std::int64_t{rule.frame_pointer_at});
    if (!read_word(saved, at.stack, at.frame)) return false;
  }
  whole = back == 0;
  at.stack = top;
  at.call = back - 1;  // of a call that is the last instruction of its function, not the next one
  return back != 0;
}

/// "libtt_metal.so": of the runtime, not what people look for.
bool is_runtime(std::string_view name) {
  for (const std::string_view start :
       {"libtt_metal", "_ttnn", "libttnn", "libtt-umd", "libdevice"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

std::string_view path_of(const Module& module, char (&own)[4096]) {
  if (module.path[0] != 0) return module.path;
  const ssize_t size = ::readlink("/proc/self/exe", own, sizeof own);
  return size > 0 ? std::string_view(own, static_cast<std::size_t>(size)) : std::string_view("?");
}

/// 0 for a frame of ours, or that cannot be told.
std::uint32_t intern_call(Address call) {
  Module module;
  char own[4096];
  if (!find_module(call, module)) return 0;
  const std::string_view path = path_of(module, own);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const Address offset = call - module.base;
  if (name.starts_with("libttmem") || offset > UINT32_MAX) return 0;
  const std::uint32_t inner = is_runtime(name) ? std::uint32_t{TTMEM_FRAME_INNER} : 0u;
  return ttmem_intern_frame(path.data(), path.size(), static_cast<std::uint32_t>(offset),
                            module.build_id, std::strlen(module.build_id),
                            std::uint32_t{TTMEM_FRAME_NATIVE} | inner);
}

[[gnu::cold]] ttmem_origin_t intern_stack(const NativeStack& stack, ttmem_origin_t around) {
  ttmem_step steps[kMostNativeFrames + 1];
  std::uint32_t count = 0;
  if (!stack.whole) steps[count++] = {TTMEM_STEP_CUT, 0};
  for (unsigned i = stack.count; i-- > 0;) {
    steps[count] = {TTMEM_STEP_FRAME, intern_call(stack.calls[i])};
    if (steps[count].what != 0) ++count;
  }
  return ttmem_intern_stack(around, steps, count);
}

void read_from(Registers at, NativeStack& stack) {
  if (bounds.high == 0) ask_bounds();
  if (at.stack < bounds.low || at.stack >= bounds.high) return;  // a stack of the program's own
  const std::uint64_t unloaded = unloaded_modules();
  for (unsigned walked = 0; walked < kMostWalked; ++walked) {
    if (stack.count == kMostNativeFrames) return;
    stack.calls[stack.count++] = at.call;
    if (!step(at, unloaded, stack.whole)) return;
  }
}

}  // namespace

// It has a frame pointer, because it asks for its own frame.
[[gnu::noinline]] void read_stack(NativeStack& stack) {
  const auto* frame = static_cast<const Address*>(__builtin_frame_address(0));
  read_from({frame[1] - 1, reinterpret_cast<Address>(frame + 2), frame[0]}, stack);
}

ttmem_origin_t native_origin(ttmem_origin_t around) {
  NativeStack stack;
  read_stack(stack);
  if (stack.count == 0) return around;
  frames::KeyMaker maker(around);
  maker.add(unloaded_modules(), stack.whole);
  for (unsigned i = 0; i < stack.count; ++i) maker.add(stack.calls[i], i);
  const frames::StackKey key = maker.key();
  std::uint32_t node = 0;
  if (known_stacks.find(key, node)) return node;
  node = intern_stack(stack, around);
  known_stacks.put(key, node);
  return node;
}

bool start() {
  const char* wanted = std::getenv("TTMEM_NATIVE_STACKS");
  if (!wanted || std::strcmp(wanted, "1") != 0) return false;
  if (frames::lines_state() == TTMEM_LINES_ON || !known_stacks.open()) return false;
  ttmem_origins_from(native_origin);
  return true;
}

}  // namespace ttmem::inject::native
