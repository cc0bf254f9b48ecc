// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A stack of Python of any release with any bytes over it: nothing outside of it is read, the walk
// ends, and what is told is bounded.
#include <algorithm>
#include <cstdlib>

#include "../inject/made_up_stack.hpp"
#include "inject/frames/describe.hpp"
#include "inject/frames/stack_key.hpp"

namespace {

using namespace ttmem::inject::frames;

MadeUpStack good_stack(const Layout& layout) {
  MadeUpStack stack(layout);
  const auto lines = two_lines(layout.lines);
  stack.call(stack.code(U"main.py", U"<module>", 1, lines), 0);
  stack.call(stack.code(U"<\u00e9\u4e2d\U0001f600>", U"\u00e4", 7, lines), 4);
  if (layout.first_shim != 0xFF) stack.call(0, 0, layout.first_shim);
  stack.call(stack.code(U"model.py", U"forward", 80, lines), 4, 1);
  return stack;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  MadeUpStack stack = good_stack(*layout_of(0x0308 + data[0] % 7u));
  auto& memory = stack.memory.content();
  // Pieces of 9 bytes each: where, and a word that lies there; small words become pointers.
  for (std::size_t at = 1; at + 10 <= size; at += 10) {
    std::uint16_t where = 0;
    std::uint64_t word = 0;
    std::memcpy(&where, data + at, sizeof where);
    std::memcpy(&word, data + at + 2, sizeof word);
    if ((where & 1) != 0) word = BufferMemory::kStart + word % memory.size();
    const std::size_t place = (where >> 1) % (memory.size() - 8);
    std::memcpy(memory.data() + place, &word, sizeof word);
  }
  KeyMaker maker(0);
  unsigned frames = 0;
  walk(stack.interpreter, stack.memory, stack.thread, [&](const Frame& frame, Address at) {
    if (++frames > kMostFrames) std::abort();
    Description description;
    if (describe(stack.interpreter, stack.memory, frame, description)) {
      if (description.file.view().size() > 4096 || description.line > INT32_MAX) std::abort();
    }
    is_incomplete(stack.interpreter.layout, stack.memory, frame);
    first_local(stack.interpreter.layout, stack.memory, at);
    return add_frame(stack.interpreter, stack.memory, frame, maker);
  });
  return 0;
}
