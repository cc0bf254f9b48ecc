// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include <cstring>

#include "inject/frames/layout_table.hpp"

namespace ttmem::inject::frames {

namespace {

/// What the words of _Py_DebugOffsets mean, by their place. Each release may add some in between.
struct Published {
  std::uint16_t version;
  std::size_t thread, frame, code;  ///< where these groups start
};
constexpr Published kPublished[] = {
    {0x030D, 19, 28, 34},
    {0x030E, 22, 31, 39},
};

constexpr char kCookie[] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
constexpr std::size_t kVersionWord = 1, kFreeThreadedWord = 2;

bool take(std::uint16_t& offset, std::uint64_t word) {
  constexpr std::uint64_t kLargest = 4096;
  if (word >= kLargest) return false;
  offset = static_cast<std::uint16_t>(word);
  return true;
}

}  // namespace

const Layout* layout_of(unsigned version) {
  for (const Layout& layout : kLayouts) {
    if (layout.version == version) return &layout;
  }
  return nullptr;
}

bool take_published(Layout& layout, const std::uint64_t (&words)[kPublishedWords]) {
  for (const Published& published : kPublished) {
    if (published.version != layout.version) continue;
    if (std::memcmp(words, kCookie, sizeof kCookie) != 0) return false;
    if (words[kVersionWord] >> 16 != layout.version || words[kFreeThreadedWord] != 0) return false;
    const std::uint64_t* thread = words + published.thread;
    const std::uint64_t* frame = words + published.frame;
    const std::uint64_t* code = words + published.code;
    const std::uint16_t start_before = layout.code_start;
    // size, prev, next, interp, current_frame
    const bool taken = take(layout.thread_frame, thread[4]) &&
                       // size, previous, executable, instr_ptr, localsplus, owner
                       take(layout.frame_back, frame[1]) && take(layout.frame_code, frame[2]) &&
                       take(layout.frame_instruction, frame[3]) &&
                       take(layout.frame_local, frame[4]) && take(layout.frame_owner, frame[5]) &&
                       // size, filename, name, qualname, linetable, firstlineno, argcount,
                       // localsplusnames, localspluskinds, co_code_adaptive
                       take(layout.code_file, code[1]) && take(layout.code_function, code[2]) &&
                       take(layout.code_lines, code[4]) && take(layout.code_first_line, code[5]) &&
                       take(layout.code_start, code[9]);
    // What is not published stands where it stood if its neighbours do.
    if (layout.code_start != start_before) layout.code_traceable = kNone;
    if (taken && code[7] != layout.code_serial + 4u) layout.code_serial = kNone;
    return taken;
  }
  return true;
}

}  // namespace ttmem::inject::frames
