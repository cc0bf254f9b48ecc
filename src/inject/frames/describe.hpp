// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a frame is in words: file, function, line. Done once for each line that allocates.
#pragma once

#include "inject/frames/line_table.hpp"
#include "inject/frames/text.hpp"
#include "inject/frames/walk.hpp"

namespace ttmem::inject::frames {

struct Description {
  Utf8 file;
  Utf8 function;
  std::uint32_t line = 0;  ///< 0 = the instruction has none
};

/// How far its instruction is from the first one, in bytes; negative: not begun.
inline std::int64_t instruction_bytes(const Layout& layout, const Frame& frame) {
  if (layout.code_start == kNone) {
    const auto number = static_cast<std::int64_t>(frame.instruction);
    return layout.lines == LineFormat::kRanges ? number * 2 : number;
  }
  return static_cast<std::int64_t>(frame.instruction - (frame.code + layout.code_start));
}

/// Whether a frame has been made and has not come to its first line yet: Python hides such ones.
template <class Memory>
bool is_incomplete(const Layout& layout, const Memory& memory, const Frame& frame) {
  std::int32_t first = 0;
  if (layout.code_traceable == kNone || frame.owner == kOwnedByGenerator) return false;
  return memory.read(frame.code + layout.code_traceable, first) &&
         instruction_bytes(layout, frame) < std::int64_t{first} * 2;
}

template <class In, class Memory>
std::uint32_t line_of(const In& in, const Memory& memory, const Frame& frame) {
  const Layout& layout = in.layout;
  Address table = 0;
  Address type = 0;
  std::uint64_t size = 0;
  std::int32_t first_line = 0;
  constexpr std::uint64_t kMostBytes = 1u << 24;
  if (!memory.read(frame.code + layout.code_first_line, first_line) ||
      !memory.read(frame.code + layout.code_lines, table) || !walking::is_pointer(table) ||
      !memory.read(table + kObjectType, type) || type != in.types.bytes ||
      !memory.read(table + kBytesLength, size) || size > kMostBytes) {
    return 0;
  }
  TableBytes<Memory> bytes(memory, table + kBytesStart, size);
  const auto line = line_at(layout.lines, bytes, first_line, instruction_bytes(layout, frame));
  return line && *line > 0 && *line <= INT32_MAX ? static_cast<std::uint32_t>(*line) : 0;
}

/// False if file or function are not to be read.
template <class In, class Memory>
bool describe(const In& in, const Memory& memory, const Frame& frame, Description& out) {
  Address file = 0;
  Address function = 0;
  if (!memory.read(frame.code + in.layout.code_file, file) ||
      !memory.read(frame.code + in.layout.code_function, function) ||
      !read_text(in, memory, file, out.file) || !read_text(in, memory, function, out.function)) {
    return false;
  }
  out.line = line_of(in, memory, frame);
  return true;
}

}  // namespace ttmem::inject::frames
