// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From a thread state to the frames of its stack, the innermost first. Nothing is written and
// nothing of Python is called. Types are checked on the way; what is not as it should be ends the
// walk.
#pragma once

#include <utility>

#include "inject/frames/layout.hpp"

namespace ttmem::inject::frames {

/// The types that frames (before 3.11), code objects, texts and byte strings have.
struct Types {
  Address frame, code, text, bytes;
};

/// Functions below take this, or anything with the same members.
struct Interpreter {
  Layout layout;
  Types types;

  /// Whether it is certain already that this is a code object, and what its content comes to.
  static bool knows(Address /*code*/, std::uint64_t& /*digest*/) { return false; }
  static void learn(Address /*code*/, std::uint64_t /*digest*/) {}
};

struct Frame {
  Address code;
  std::uint64_t digest;  ///< of the code's content, if the interpreter knows it; else 0
  Address instruction;   ///< its address since 3.11, before that its number, -1 = not begun
  Address local;         ///< the first local variable
  std::uint8_t owner;
};

inline constexpr unsigned kMostFrames = 64;
inline constexpr unsigned kMostShims = 256;  ///< frames that are passed over

enum class Walked {
  kWhole,
  kCut,  ///< there are more frames around
  kOdd,  ///< not as it should be: tell nothing
};

namespace walking {

inline constexpr Address kTags = 7;  ///< 3.14 marks references in their low bits
inline constexpr std::uint16_t kTagged = 0x030E;

inline bool is_pointer(Address address) { return address != 0 && (address & kTags) == 0; }

template <class Memory>
[[gnu::always_inline]] inline bool first_frame(const Layout& layout, const Memory& memory,
                                               Address thread, Address& frame) {
  if (!is_pointer(thread) || !memory.read(thread + layout.thread_frame, frame)) return false;
  if (layout.c_frame == kNone || frame == 0) return true;
  return is_pointer(frame) && memory.read(frame + layout.c_frame, frame);
}

/// False: the frame cannot be read or is none.
template <class In, class Memory>
[[gnu::always_inline]] inline bool read_frame(const In& in, const Memory& memory, Address at,
                                              Frame& frame) {
  const Layout& layout = in.layout;
  if (layout.frame_owner == kNone) {
    Address type = 0;
    std::int32_t number = 0;
    if (!memory.read(at + kObjectType, type) || type != in.types.frame) return false;
    if (!memory.read(at + layout.frame_instruction, number)) return false;
    frame.instruction = static_cast<Address>(std::intptr_t{number});
  } else if (!memory.read(at + layout.frame_instruction, frame.instruction)) {
    return false;
  }
  Address type = 0;
  if (!memory.read(at + layout.frame_code, frame.code)) return false;
  if (layout.version >= kTagged) frame.code &= ~kTags;
  if (in.knows(frame.code, frame.digest)) return true;
  frame.digest = 0;
  return is_pointer(frame.code) && memory.read(frame.code + kObjectType, type) &&
         type == in.types.code;
}

}  // namespace walking

/// The first local variable of a frame at this address; 0 if it has none yet.
template <class Memory>
[[gnu::always_inline]] inline Address first_local(const Layout& layout, const Memory& memory,
                                                  Address frame) {
  Address local = 0;
  return memory.read(frame + layout.frame_local, local) ? local & ~walking::kTags : 0;
}

/// Calls visit(frame, address of the frame) for each, at most kMostFrames; false ends the walk.
template <class In, class Memory, class Visit>
[[gnu::always_inline]] inline Walked walk(const In& in, const Memory& memory, Address thread,
                                          Visit&& visit) {
  const Layout& layout = in.layout;
  Address at = 0;
  if (!walking::first_frame(layout, memory, thread, at)) return Walked::kOdd;
  unsigned shims = 0;
  for (unsigned count = 0; at != 0;) {
    if (!walking::is_pointer(at)) return Walked::kOdd;
    Frame frame = {};
    if (layout.frame_owner != kNone) {
      if (!memory.read(at + layout.frame_owner, frame.owner)) return Walked::kOdd;
    }
    if (frame.owner < layout.first_shim) {
      if (count++ == kMostFrames) return Walked::kCut;
      if (!walking::read_frame(in, memory, at, frame)) return Walked::kOdd;
      if (!visit(std::as_const(frame), at)) return Walked::kOdd;
    } else if (++shims > kMostShims) {
      return Walked::kOdd;
    }
    if (!memory.read(at + layout.frame_back, at)) return Walked::kOdd;
  }
  return Walked::kWhole;
}

}  // namespace ttmem::inject::frames
