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

  /// Order counts.
  void add(std::uint64_t a, std::uint64_t b) {
    high = rotate(high, 27) * 0x9FB21C651E98DF25u + product(a ^ 0xA0761D6478BD642Fu, b ^ kLowSeed);
    low = rotate(low, 33) * 0xD1342543DE82EF95u + product(a ^ 0xE7037ED1A0B428DBu, b ^ kHighSeed);
  }
  void add_bytes(const std::uint8_t* bytes, std::uint64_t size) {
    for (; size >= 16; bytes += 16, size -= 16) add(word(bytes, 8), word(bytes + 8, 8));
    const std::uint64_t first = size < 8 ? size : 8;
    add(word(bytes, first), word(bytes + first, size - first) ^ size << 56);
  }
  bool operator==(const StackKey&) const = default;

 private:
  static constexpr std::uint64_t kLowSeed = 0x8EBC6AF09C88C6E3u, kHighSeed = 0x589965CC75374CC3u;

  static std::uint64_t rotate(std::uint64_t value, unsigned by) {
    return value << by | value >> (64 - by);
  }
  static std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide wide = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64);
  }
  static std::uint64_t word(const std::uint8_t* bytes, std::uint64_t count) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, count);
    return value;
  }
};

namespace keys {

/// The content of a text: its hash if Python has worked it out already, else its characters.
template <class Memory>
bool add_text(const Interpreter& in, const Memory& memory, Address text, StackKey& key) {
  constexpr std::uint64_t kNotHashed = ~std::uint64_t{0};
  Characters found;
  std::uint64_t hash = 0;
  if (!characters_of(in, memory, text, found) || !memory.read(text + kTextHash, hash)) return false;
  if (hash != kNotHashed) {
    key.add(hash, found.count);
    return true;
  }
  const std::uint8_t* bytes = memory.bytes(found.start, found.count * found.width);
  if (!bytes) return false;
  key.add_bytes(bytes, found.count * found.width);
  return true;
}

template <class Memory>
bool add_content(const Interpreter& in, const Memory& memory, Address code, StackKey& key) {
  const Layout& layout = in.layout;
  Address file = 0;
  Address function = 0;
  Address lines = 0;
  Address type = 0;
  std::uint64_t size = 0;
  std::int32_t first_line = 0;
  if (!memory.read(code + layout.code_first_line, first_line) ||
      !memory.read(code + layout.code_file, file) ||
      !memory.read(code + layout.code_function, function) ||
      !memory.read(code + layout.code_lines, lines) || !walking::is_pointer(lines) ||
      !memory.read(lines + kObjectType, type) || type != in.types.bytes ||
      !memory.read(lines + kBytesLength, size)) {
    return false;
  }
  const std::uint8_t* table = memory.bytes(lines + kBytesStart, size);
  if (!table || !add_text(in, memory, file, key) || !add_text(in, memory, function, key)) {
    return false;
  }
  key.add(static_cast<std::uint64_t>(first_line), size);
  key.add_bytes(table, size);
  return true;
}

}  // namespace keys

/// False if the code object is not as it should be.
template <class Memory>
bool add_frame(const Interpreter& in, const Memory& memory, const Frame& frame, StackKey& key) {
  const Layout& layout = in.layout;
  key.add(frame.code, frame.instruction);
  if (layout.code_serial == kNone) return keys::add_content(in, memory, frame.code, key);
  std::uint32_t serial = 0;
  std::uint32_t first_line = 0;
  Address function = 0;
  if (!memory.read(frame.code + layout.code_serial, serial) ||
      !memory.read(frame.code + layout.code_first_line, first_line) ||
      !memory.read(frame.code + layout.code_function, function)) {
    return false;
  }
  key.add(std::uint64_t{serial} << 32 | first_line, function);
  // The numbers ran out, after 2^32 functions and code objects.
  return serial != 0 || keys::add_content(in, memory, frame.code, key);
}

}  // namespace ttmem::inject::frames
