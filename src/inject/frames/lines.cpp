// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/frames/lines.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inject/frames/code_digests.hpp"
#include "inject/frames/describe.hpp"
#include "inject/frames/layout_table.hpp"
#include "inject/frames/lines.h"
#include "inject/frames/memory.hpp"
#include "inject/frames/operations.hpp"
#include "inject/frames/origin_cache.hpp"
#include "inject/frames/readers.hpp"
#include "inject/frames/stack_key.hpp"
#include "inject/frames/walk.hpp"
#include "ttmem/ttmem.h"

#define EXPORTED __attribute__((visibility("default")))

namespace ttmem::inject::frames {

namespace {

constexpr std::size_t kMostPrefixes = 8;
/// Not the stack of one frame: no region has such a number.
constexpr std::uint64_t kOfAFrame = std::uint64_t{1} << 32;

struct Prefix {
  char text[1024];
  std::size_t size;
  bool is_left_out;
};

enum class Place : std::uint8_t { kOfProgram, kPassedOver, kLeftOut };

/// What is gathered of a stack: its key, and whether it goes through an operation of ttnn.
struct SeenStack {
  KeyMaker maker;
  bool names_operation;
};

/// Written with Python's lock held, before the lines are switched on.
struct State {
  Interpreter interpreter;
  void* (*this_thread)() = nullptr;
  Walked (*add_stack)(Address, SeenStack&) = nullptr;
  Prefix passed_over[kMostPrefixes];
  std::atomic<std::size_t> prefixes{0};
};

constinit State state = {};
constinit OriginCache cache;
constinit Readers readers;
constinit Operations operations;
std::atomic<std::uint32_t> told_state{TTMEM_LINES_UNKNOWN};
char told_reason[256];
thread_local constinit Told told_here __attribute__((tls_model("initial-exec"))) = {};
void (*changed)() = nullptr;

Place place_of(std::string_view file) {
  if (file.starts_with("<frozen importlib")) return Place::kPassedOver;
  const std::size_t count = state.prefixes.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const Prefix& prefix = state.passed_over[i];
    if (!file.starts_with({prefix.text, prefix.size})) continue;
    return prefix.is_left_out ? Place::kLeftOut : Place::kPassedOver;
  }
  return Place::kOfProgram;
}

// ---- a stack that was seen before ------------------------------------------------------------

template <class In>
struct AddToKey {
  const In& in;
  const Operations::Calls& calls;
  KeyMaker& maker;
  bool& names_operation;

  [[gnu::always_inline]] bool operator()(const Frame& frame, Address at) const {
    const DirectMemory memory;
    if (calls.has(frame.code)) [[unlikely]] {
      maker.add(first_local(in.layout, memory, at), 1);
      names_operation = true;
    }
    return add_frame(in, memory, frame, maker);
  }
};

template <class In>
[[gnu::always_inline]] inline Walked add_stack(const In& in, Address thread, SeenStack& stack) {
  KeyMaker maker = stack.maker;  // in registers
  bool names_operation = false;
  const Operations::Calls calls = operations.calls();
  const Walked walked =
      walk(in, DirectMemory(), thread, AddToKey<In>{in, calls, maker, names_operation});
  stack = {maker, names_operation};
  return walked;
}

/// The interpreter of this process, of whatever release.
struct ThisInterpreter {
  const Layout& layout = state.interpreter.layout;
  const Types& types = state.interpreter.types;
  bool followed = code_digests.are_followed();

  [[gnu::always_inline]] bool knows(Address code, std::uint64_t& digest) const {
    return followed && code_digests.find(code, digest);
  }
  void learn(Address code, std::uint64_t digest) const {
    if (followed) code_digests.put(code, digest);
  }
};

/// The same, compiled for one release: its offsets are part of the code. Followed: in a stack that
/// was seen the addresses of code objects are enough, those of the same age are the same objects.
template <std::size_t Index, bool Followed>
struct InterpreterOf {
  // Named as the member of Interpreter in whose place it stands.
  static constexpr const Layout& layout = kLayouts[Index];  // NOLINT(readability-identifier-naming)
  Types types = state.interpreter.types;
  std::uint64_t age = code_digests.age() | 1;  // never 0, which is said of code that is not known

  [[gnu::always_inline]] bool knows(Address /*code*/, std::uint64_t& digest) const {
    digest = age;
    return Followed;
  }
  static void learn(Address /*code*/, std::uint64_t /*digest*/) {}
};

template <std::size_t Index>
[[gnu::hot]] Walked add_stack_of(Address thread, SeenStack& stack) {
  if constexpr (kLayouts[Index].code_serial == kNone) {
    if (code_digests.are_followed()) return add_stack(InterpreterOf<Index, true>(), thread, stack);
  }
  return add_stack(InterpreterOf<Index, false>(), thread, stack);
}

Walked add_stack_as_published(Address thread, SeenStack& stack) {
  return add_stack(ThisInterpreter(), thread, stack);
}

using AddStack = Walked (*)(Address, SeenStack&);

template <std::size_t... Index>
AddStack walk_for(const Layout& layout, std::index_sequence<Index...>) {
  AddStack found = add_stack_as_published;
  ((found = kLayouts[Index] == layout ? add_stack_of<Index> : found), ...);
  return found;
}

// ---- a new one -------------------------------------------------------------------------------

struct Step {
  Frame frame;
  Address operation;  ///< the object, if the frame calls one; 0 = none
};

struct Stack {
  Step steps[kMostFrames];
  unsigned count = 0;
};

Walked collect(Address thread, Stack& stack) {
  const DirectMemory memory;
  const Operations::Calls calls = operations.calls();
  return walk(ThisInterpreter(), memory, thread, [&](const Frame& frame, Address at) {
    const bool calls_one = calls.has(frame.code);
    stack.steps[stack.count++] = {
        frame, calls_one ? first_local(state.interpreter.layout, memory, at) : Address{0}};
    return true;
  });
}

/// The recorder's id of a frame; 0 if it cannot be told, or is not to be.
std::uint32_t intern(const Frame& frame) {
  const DirectMemory memory;
  KeyMaker maker(kOfAFrame);
  std::uint32_t known = 0;
  if (!add_frame(ThisInterpreter(), memory, frame, maker)) return 0;
  const StackKey key = maker.key();
  if (cache.find(key, known)) return known;
  Description found;
  if (!describe(state.interpreter, memory, frame, found)) return 0;
  const std::string_view file = found.file.view();
  const std::string_view function = found.function.view();
  const Place place = place_of(file);
  if (place == Place::kLeftOut) return 0;
  const std::uint32_t flags = place == Place::kPassedOver ? std::uint32_t{TTMEM_FRAME_INNER} : 0u;
  known = ttmem_intern_frame(file.data(), file.size(), found.line, function.data(), function.size(),
                             flags);
  if (known != 0) cache.put(key, known);
  return known;
}

ttmem_step step_of(const Step& step) {
  if (const char* name = operations.name(step.operation)) {
    return {TTMEM_STEP_OPERATION, ttmem_intern_string(name, std::strlen(name))};
  }
  return {TTMEM_STEP_FRAME, intern(step.frame)};
}

ttmem_origin_t intern(const Stack& stack, bool cut, ttmem_origin_t around) {
  const DirectMemory memory;
  ttmem_step steps[kMostFrames + 1];
  std::uint32_t count = 0;
  if (cut) steps[count++] = {TTMEM_STEP_CUT, 0};
  for (unsigned i = stack.count; i-- > 0;) {
    if (is_incomplete(state.interpreter.layout, memory, stack.steps[i].frame)) continue;
    steps[count] = step_of(stack.steps[i]);
    if (steps[count].what != 0) ++count;
  }
  return ttmem_intern_stack(around, steps, count);
}

[[gnu::noinline, gnu::cold]] ttmem_origin_t intern_new(Address thread, const StackKey& key,
                                                       ttmem_origin_t around) {
  Stack stack;
  const Walked walked = collect(thread, stack);
  if (walked == Walked::kOdd) return around;
  if (state.interpreter.layout.code_serial == kNone) {
    for (unsigned i = 0; i < stack.count; ++i) code_digests.see(stack.steps[i].frame.code);
  }
  const ttmem_origin_t node = intern(stack, walked == Walked::kCut, around);
  cache.put(key, node);
  return node;
}

/// What the recorder asks.
[[gnu::hot]] ttmem_origin_t origin(ttmem_origin_t around) {
  const Readers::Reading reading(readers);
  if (!reading) return around;
  const auto thread = reinterpret_cast<Address>(state.this_thread());
  if (thread == 0) return around;
  SeenStack stack = {KeyMaker(around), false};
  if (state.add_stack(thread, stack) == Walked::kOdd) [[unlikely]] {
    ttmem_stack_odd();
    return around;
  }
  const StackKey key = stack.maker.key();
  std::uint32_t node = 0;
  if (!cache.find(key, node)) node = intern_new(thread, key, around);
  told_here = {node, stack.names_operation};
  return node;
}

// ---- the test --------------------------------------------------------------------------------

/// What Python said, text by text.
class Texts {
 public:
  Texts(const char* text, std::size_t bytes) : rest_(text, bytes) {}
  bool has_next() const { return !rest_.empty(); }
  std::string_view next() {
    const std::size_t end = rest_.find('\0');
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    return text;
  }

 private:
  std::string_view rest_;
};

char difference[256];

const char* differs(unsigned depth, const char* what, std::string_view told,
                    std::string_view read) {
  constexpr std::size_t kShown = 60;
  char texts[2][kShown + 1] = {};
  told.copy(texts[0], kShown);
  read.copy(texts[1], kShown);
  std::snprintf(difference, sizeof difference, "%s of frame %u is '%s', read as '%s'", what, depth,
                texts[0], texts[1]);
  return difference;
}

const char* compare_frame(const Frame& frame, unsigned depth, Texts& told) {
  const CheckedMemory memory;
  Description found;
  if (!told.has_next()) return differs(depth, "the end", "here", "later");
  if (!describe(state.interpreter, memory, frame, found)) {
    return differs(depth, "the code", "there", "none");
  }
  char line[16];
  std::snprintf(line, sizeof line, "%u", found.line);
  const std::string_view texts[] = {found.file.view(), found.function.view(), line};
  const char* const names[] = {"the file", "the function", "the line"};
  for (int i = 0; i < 3; ++i) {
    const std::string_view expected = told.next();
    if (expected != texts[i]) return differs(depth, names[i], expected, texts[i]);
  }
  return nullptr;
}

const char* compare(Texts told) {
  const CheckedMemory memory;
  const auto thread = reinterpret_cast<Address>(state.this_thread());
  const char* difference_found = nullptr;
  unsigned depth = 0;
  const Walked walked = walk(state.interpreter, memory, thread, [&](const Frame& frame, Address) {
    if (is_incomplete(state.interpreter.layout, memory, frame)) return true;
    difference_found = compare_frame(frame, depth++, told);
    return difference_found == nullptr;
  });
  if (difference_found) return difference_found;
  if (walked == Walked::kOdd) return differs(depth, "the frame", "there", "none");
  if (walked == Walked::kWhole && told.has_next())
    return differs(depth, "the end", "later", "here");
  return nullptr;
}

const char* prepare(const ttmem_interpreter& given) {
  const Layout* layout = layout_of(given.version);
  if (!layout) return "this release of CPython is not known";
  if (!CheckedMemory::works()) return "process_vm_readv is not permitted";
  if (!given.this_thread || !given.code_type || !given.text_type || !given.bytes_type) {
    return "this Python does not show its types";
  }
  state.interpreter.layout = *layout;
  std::uint64_t words[kPublishedWords];
  if (given.runtime && (!CheckedMemory().read(reinterpret_cast<Address>(given.runtime), words) ||
                        !take_published(state.interpreter.layout, words))) {
    return "what this Python publishes of its frames makes no sense";
  }
  state.interpreter.types = {
      reinterpret_cast<Address>(given.frame_type), reinterpret_cast<Address>(given.code_type),
      reinterpret_cast<Address>(given.text_type), reinterpret_cast<Address>(given.bytes_type)};
  state.this_thread = given.this_thread;
  if (layout->code_serial == kNone) code_digests.follow(state.interpreter.types.code);
  state.add_stack = walk_for(state.interpreter.layout,
                             std::make_index_sequence<sizeof kLayouts / sizeof kLayouts[0]>());
  return cache.open() && readers.open(given.main_thread) ? nullptr : "there is no memory";
}

/// Python is there, and nobody came to switch its lines on.
constexpr const char* kNotStarted =
    "ttmem's start file saw no `import ttnn` (python -I, -E or -S?): call ttmem.track()";
bool has_python() { return ::dlsym(RTLD_DEFAULT, "Py_GetVersion") != nullptr; }

/// An observer that has described its process does it again.
void tell(std::uint32_t new_state, const char* reason) {
  std::snprintf(told_reason, sizeof told_reason, "%s", reason ? reason : "");
  told_state.store(new_state, std::memory_order_release);
  if (changed) changed();
}

}  // namespace

Told last_told() { return told_here; }
void forget_told() { told_here = {}; }

std::uint32_t lines_state() {
  const std::uint32_t told = told_state.load(std::memory_order_acquire);
  if (told != TTMEM_LINES_UNKNOWN) return told;
  const char* wanted = std::getenv("TTMEM_LINES");
  if (wanted && std::strcmp(wanted, "0") == 0) return TTMEM_LINES_OFF;
  return has_python() ? std::uint32_t{TTMEM_LINES_REFUSED} : told;
}
const char* lines_reason() {
  if (told_reason[0]) return told_reason;
  return lines_state() == TTMEM_LINES_REFUSED ? kNotStarted : nullptr;
}
void when_lines_change(void (*action)()) { changed = action; }

}  // namespace ttmem::inject::frames

extern "C" {

EXPORTED const char* ttmem_lines_prepare(const ttmem_interpreter* interpreter) {
  return ttmem::inject::frames::prepare(*interpreter);
}

EXPORTED const char* ttmem_lines_compare(const char* told, size_t bytes) {
  using namespace ttmem::inject::frames;
  return compare(Texts(told, bytes));
}

EXPORTED void ttmem_lines_pass_over(const char* prefix, int leave_out) {
  using namespace ttmem::inject::frames;
  const std::size_t size = std::strlen(prefix);
  const std::size_t count = state.prefixes.load(std::memory_order_relaxed);
  if (count == kMostPrefixes || size == 0 || size > sizeof(Prefix::text)) return;
  Prefix& added = state.passed_over[count];
  std::memcpy(added.text, prefix, size);
  added.size = size;
  added.is_left_out = leave_out != 0;
  state.prefixes.store(count + 1, std::memory_order_release);
}

EXPORTED uint32_t ttmem_lines_state(void) { return ttmem::inject::frames::lines_state(); }

EXPORTED void ttmem_lines_switch_on(void) {
  using namespace ttmem::inject::frames;
  tell(TTMEM_LINES_ON, nullptr);
  readers.admit();
  ttmem_origins_from(origin);
}

EXPORTED void ttmem_lines_switch_off(uint32_t new_state, const char* reason) {
  ttmem_lines_end();
  ttmem::inject::frames::tell(new_state, reason);
}

EXPORTED void ttmem_lines_end(void) {
  ttmem_origins_from(nullptr);
  ttmem::inject::frames::readers.dismiss();
}

EXPORTED void ttmem_lines_operation_call(const void* code) {
  ttmem::inject::frames::operations.set_call(reinterpret_cast<std::uintptr_t>(code));
}

EXPORTED void ttmem_lines_operation(const void* object, const char* name) {
  ttmem::inject::frames::operations.set_name(reinterpret_cast<std::uintptr_t>(object), name);
}

}  // extern "C"
