// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where CPython keeps the stack of a thread, release by release: offsets in bytes, from the headers
// of each. Since 3.13 an interpreter publishes its own (_Py_DebugOffsets); they are taken before
// ours. Debug and free-threaded builds are laid out differently and have no row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttmem::inject::frames {

/// An address in the memory of an interpreter; 0 = none.
using Address = std::uintptr_t;

enum class LineFormat : std::uint8_t {
  kIncrements,  ///< 3.8 and 3.9: co_lnotab
  kRanges,      ///< 3.10: PEP 626
  kLocations,   ///< since 3.11: PEP 657
};

/// An offset that a release does not have.
inline constexpr std::uint16_t kNone = 0xFFFF;

struct Layout {
  std::uint16_t version;  ///< 0x030C = 3.12

  std::uint16_t thread_frame;  ///< of a thread state: its innermost frame, or its C frame
  std::uint16_t c_frame;       ///< of a C frame: the innermost frame

  std::uint16_t frame_code;
  std::uint16_t frame_back;
  std::uint16_t frame_instruction;
  std::uint16_t frame_owner;  ///< kNone: frames are objects, with a type
  std::uint16_t frame_local;  ///< the first local variable
  std::uint8_t first_shim;    ///< frames of this owner and above run no code of the program

  std::uint16_t code_file;
  std::uint16_t code_function;
  std::uint16_t code_first_line;
  std::uint16_t code_lines;
  std::uint16_t code_start;      ///< of its instructions; kNone: the frame counts them
  std::uint16_t code_traceable;  ///< number of the first instruction that belongs to a line
  std::uint16_t code_serial;     ///< a number that no other code object has had

  std::uint16_t ascii_bytes;    ///< the head of a text that is ASCII
  std::uint16_t compact_bytes;  ///< of another one
  LineFormat lines;

  bool operator==(const Layout&) const = default;
};

/// What all releases have in common.
inline constexpr std::size_t kObjectType = 8;
inline constexpr std::size_t kBytesLength = 16;
inline constexpr std::size_t kBytesStart = 32;
inline constexpr std::size_t kTextLength = 16;
inline constexpr std::size_t kTextHash = 24;
inline constexpr std::size_t kTextState = 32;
inline constexpr std::uint8_t kOwnedByGenerator = 1;

/// The layout of a release, by its version (0x030C); null if it is not known.
const Layout* layout_of(unsigned version);

/// The start of _PyRuntime holds this many words that matter.
inline constexpr std::size_t kPublishedWords = 64;

/// Replaces by what the interpreter publishes; false if that makes no sense. Nothing to do for
/// releases before 3.13.
bool take_published(Layout& layout, const std::uint64_t (&words)[kPublishedWords]);

}  // namespace ttmem::inject::frames
