// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A stack as 128 bits: equal stacks have equal keys, and other ones never in practice. The address
// of a code object is not enough, because code objects are freed and others get their place. Since
// 3.12 each has a number of its own; before that the content goes into the key that its lines, its
// file and its name are made of.
#pragma once

#include <cstring>

#include "inject/frames/text.hpp"
#include "inject/frames/walk.hpp"

namespace ttmem::inject::frames {

struct StackKey {
  std::uint64_t high = 0x9E3779B97F4A7C15u;
  std::uint64_t low = 0xD6E8FEB86659FD93u;

  bool operator==(const StackKey&) const = default;
};

/// Makes a key of words, in their order. One multiplication for two words, none of which waits for
/// the one before.
class KeyMaker {
 public:
  explicit KeyMaker(std::uint64_t seed) { add(seed, 0); }

  void add(std::uint64_t a, std::uint64_t b) {
    const Wide wide = product(a ^ 0xA0761D6478BD642Fu, b ^ 0x8EBC6AF09C88C6E3u);
    high_ = rotate(high_, 29) + static_cast<std::uint64_t>(wide >> 64);
    low_ = rotate(low_, 37) + static_cast<std::uint64_t>(wide);
  }
  void add_bytes(const std::uint8_t* bytes, std::uint64_t size) {
    for (; size > 16; bytes += 16, size -= 16) add(word(bytes), word(bytes + 8));
    // The last 1 to 16 bytes, and how many they are.
    if (size >= 8) return add(word(bytes), word(bytes + size - 8) ^ size << 59);
    add(few(bytes, size), size << 59);
  }
  StackKey key() const {
    const Wide one = product(high_ ^ 0xE7037ED1A0B428DBu, low_ ^ 0x589965CC75374CC3u);
    const Wide two = product(high_ ^ 0x1D8E4E27C47D124Fu, low_ ^ 0xEB44ACCAB455D165u);
    return {fold(one) + high_, fold(two) + low_};
  }

 private:
  __extension__ using Wide = unsigned __int128;

  static Wide product(std::uint64_t a, std::uint64_t b) { return static_cast<Wide>(a) * b; }
  static std::uint64_t fold(Wide wide) {
    return static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64);
  }
  static std::uint64_t rotate(std::uint64_t value, unsigned by) {
    return value << by | value >> (64 - by);
  }
  /// Up to 7 bytes, read without a copy that the next instruction would have to wait for.
  static std::uint64_t few(const std::uint8_t* bytes, std::uint64_t size) {
    if (size == 0) return 0;
    if (size < 4) {
      return std::uint64_t{bytes[0]} | std::uint64_t{bytes[size / 2]} << 8 |
             std::uint64_t{bytes[size - 1]} << 16;
    }
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, bytes, sizeof first);
    std::memcpy(&last, bytes + size - sizeof last, sizeof last);
    return first | std::uint64_t{last} << 32;
  }
  static std::uint64_t word(const std::uint8_t* bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  std::uint64_t high_ = StackKey{}.high;
  std::uint64_t low_ = StackKey{}.low;
};

namespace keys {

/// The content of a text: its hash if Python has worked it out already, else of its characters.
template <class In, class Memory>
[[gnu::always_inline]] inline bool digest(const In& in, const Memory& memory, Address text,
                                          std::uint64_t& found) {
  constexpr std::uint64_t kNotHashed = ~std::uint64_t{0};
  if (!walking::is_pointer(text) || !memory.read(text + kTextHash, found)) return false;
  if (found != kNotHashed) return true;
  Characters characters;
  if (!characters_of(in, memory, text, characters)) return false;
  const std::uint64_t size = characters.count * characters.width;
  const std::uint8_t* bytes = memory.bytes(characters.start, size);
  if (!bytes) return false;
  KeyMaker maker(size);
  maker.add_bytes(bytes, size);
  found = maker.key().high;
  return true;
}

/// What the lines, the file and the name of a code object are made of; 0 if it is none. Apart, and
/// its arguments copied, so that those who seldom call it keep theirs in registers.
template <class In, class Memory>
[[gnu::noinline]] std::uint64_t digest_of(In in, const Memory& memory, Address code) {
  const Layout& layout = in.layout;
  Address file = 0;
  Address function = 0;
  Address lines = 0;
  std::uint64_t size = 0;
  std::uint64_t file_digest = 0;
  std::uint64_t function_digest = 0;
  std::uint32_t first_line = 0;
  if (!memory.read(code + layout.code_file, file) ||
      !memory.read(code + layout.code_function, function) ||
      !memory.read(code + layout.code_lines, lines) ||
      !memory.read(code + layout.code_first_line, first_line) ||
      !digest(in, memory, file, file_digest) || !digest(in, memory, function, function_digest) ||
      !walking::is_pointer(lines) || !memory.read(lines + kBytesLength, size)) {
    return 0;
  }
  const std::uint8_t* table = memory.bytes(lines + kBytesStart, size);
  if (!table) return 0;
  KeyMaker maker(file_digest ^ first_line);
  maker.add(function_digest, size);
  maker.add_bytes(table, size);
  return maker.key().high | 1;
}

}  // namespace keys

/// False if the code object is not as it should be.
template <class In, class Memory>
[[gnu::always_inline]] inline bool add_frame(const In& in, const Memory& memory, const Frame& frame,
                                             KeyMaker& maker) {
  const Layout& layout = in.layout;
  if (layout.code_serial == kNone) {
    std::uint64_t content = frame.digest;
    if (content == 0) [[unlikely]] {
      content = keys::digest_of(in, memory, frame.code);
      if (content == 0) return false;
      in.learn(frame.code, content);
    }
    maker.add(content ^ frame.code, frame.instruction);
    return true;
  }
  std::uint32_t serial = 0;
  if (!memory.read(frame.code + layout.code_serial, serial)) return false;
  // Both fit: no code object has 4 GiB of instructions.
  maker.add(frame.code, (frame.instruction - frame.code) ^ std::uint64_t{serial} << 32);
  if (serial == 0) [[unlikely]] {
    // The numbers ran out, after 2^32 functions and code objects.
    const std::uint64_t content = keys::digest_of(in, memory, frame.code);
    maker.add(content, 0);
    return content != 0;
  }
  return true;
}

}  // namespace ttmem::inject::frames
