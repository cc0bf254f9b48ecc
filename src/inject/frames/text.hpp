// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A text of Python as UTF-8. Bytes of a file name that were no UTF-8 (which Python keeps as lone
// surrogates) become the same bytes again, as os.fsencode does it; other lone surrogates become
// "?".
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "inject/frames/walk.hpp"

namespace ttmem::inject::frames {

/// Where a text keeps its characters.
struct Characters {
  Address start = 0;
  std::uint64_t count = 0;
  unsigned width = 0;  ///< bytes a character
};

/// False if this is no text, or one of a form that code objects never have.
template <class In, class Memory>
bool characters_of(const In& in, const Memory& memory, Address text, Characters& found) {
  constexpr std::uint64_t kMost = 1u << 20;
  Address type = 0;
  std::uint32_t state = 0;
  if (!walking::is_pointer(text) || !memory.read(text + kObjectType, type) ||
      type != in.types.text || !memory.read(text + kTextLength, found.count) ||
      !memory.read(text + kTextState, state)) {
    return false;
  }
  const bool compact = (state >> 5 & 1) != 0;
  const bool ascii = (state >> 6 & 1) != 0;
  found.width = state >> 2 & 7;
  const bool known = found.width == 1 || found.width == 2 || found.width == 4;
  found.start = text + (ascii ? in.layout.ascii_bytes : in.layout.compact_bytes);
  return compact && known && found.count <= kMost;
}

/// A short text on the stack.
class Utf8 {
 public:
  std::string_view view() const { return {bytes_, size_}; }
  void clear() { size_ = 0; }

  /// False if there is no room for it.
  bool add(std::uint32_t character) {
    if (size_ + 4 > sizeof bytes_) return false;
    const bool escaped = character >= 0xDC80 && character <= 0xDCFF;
    const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
    if (escaped) {
      put(character - 0xDC00);
    } else if (surrogate || character >= 0x110000) {
      put('?');
    } else if (character < 0x80) {
      put(character);
    } else if (character < 0x800) {
      put(0xC0 | character >> 6);
      put_rest(character, 1);
    } else if (character < 0x10000) {
      put(0xE0 | character >> 12);
      put_rest(character, 2);
    } else {
      put(0xF0 | character >> 18);
      put_rest(character, 3);
    }
    return true;
  }

 private:
  void put(std::uint32_t byte) { bytes_[size_++] = static_cast<char>(byte); }
  void put_rest(std::uint32_t character, int count) {
    while (count-- > 0) put(0x80 | (character >> (6 * count) & 0x3F));
  }
  std::size_t size_ = 0;
  char bytes_[4096];
};

/// The end of a text that is too long.
template <class In, class Memory>
bool read_text(const In& in, const Memory& memory, Address text, Utf8& out) {
  constexpr std::uint64_t kMostCharacters = 1000;
  constexpr std::uint64_t kAtOnce = 64;
  out.clear();
  Characters found;
  if (!characters_of(in, memory, text, found)) return false;
  const std::uint64_t skipped = found.count > kMostCharacters ? found.count - kMostCharacters : 0;
  for (std::uint64_t i = skipped; i < found.count;) {
    const std::uint64_t count = found.count - i < kAtOnce ? found.count - i : kAtOnce;
    const std::uint8_t* bytes =
        memory.bytes(found.start + i * found.width, static_cast<std::size_t>(count * found.width));
    if (!bytes) return false;
    for (std::uint64_t k = 0; k < count; ++k) {
      std::uint32_t character = 0;
      std::memcpy(&character, bytes + k * found.width, found.width);
      if (!out.add(character)) return false;
    }
    i += count;
  }
  return true;
}

}  // namespace ttmem::inject::frames
