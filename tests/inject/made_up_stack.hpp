// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A stack of Python as an interpreter of any release would lay it out, in a buffer: for tests of
// the walk, and for the fuzz target that spoils it.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "inject/frames/walk.hpp"

namespace ttmem::inject::frames {

// Memory that begins at an address of its own; nothing else can be read.
class BufferMemory {
 public:
  static constexpr Address kStart = 0x10000;

  explicit BufferMemory(std::size_t bytes) : bytes_(bytes) {}

  template <class T>
  bool read(Address address, T& value) const {
    const std::uint8_t* found = bytes(address, sizeof value);
    if (found) std::memcpy(&value, found, sizeof value);
    return found != nullptr;
  }
  const std::uint8_t* bytes(Address address, std::size_t count) const {
    if (address < kStart || address - kStart > bytes_.size()) return nullptr;
    return count <= bytes_.size() - (address - kStart) ? bytes_.data() + (address - kStart)
                                                       : nullptr;
  }
  template <class T>
  void write(Address address, const T& value) {
    std::memcpy(bytes_.data() + (address - kStart), &value, sizeof value);
  }
  std::vector<std::uint8_t>& content() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class MadeUpStack {
 public:
  explicit MadeUpStack(const Layout& layout)
      : interpreter{layout, {0x1000, 0x2000, 0x3000, 0x4000}}, memory(16384) {
    thread = take(256);
    if (layout.c_frame == kNone) {
      innermost_ = thread + layout.thread_frame;
    } else {
      const Address c_frame = take(64);
      memory.write(thread + layout.thread_frame, c_frame);
      innermost_ = c_frame + layout.c_frame;
    }
  }

  // A text of characters of one width: 1, 2 or 4 bytes.
  Address text(const std::u32string& characters) {
    char32_t highest = 0;
    for (const char32_t character : characters) highest = std::max(highest, character);
    const bool ascii = highest < 0x80;
    const unsigned width = highest < 0x100 ? 1 : highest < 0x10000 ? 2 : 4;
    const std::size_t head =
        ascii ? interpreter.layout.ascii_bytes : interpreter.layout.compact_bytes;
    const Address made = take(head + characters.size() * width);
    memory.write(made + kObjectType, interpreter.types.text);
    memory.write(made + kTextLength, std::uint64_t{characters.size()});
    memory.write(made + kTextHash, ~std::uint64_t{0});
    memory.write(made + kTextState, std::uint32_t{width << 2 | 1u << 5 | unsigned{ascii} << 6});
    for (std::size_t i = 0; i < characters.size(); ++i) {
      const auto character = static_cast<std::uint32_t>(characters[i]);
      std::memcpy(memory.content().data() + (made + head + i * width - BufferMemory::kStart),
                  &character, width);
    }
    return made;
  }

  Address code(const std::u32string& file, const std::u32string& function, std::int32_t first_line,
               const std::vector<std::uint8_t>& lines) {
    const Layout& layout = interpreter.layout;
    const Address made = take(512);
    const Address table = take(kBytesStart + lines.size());
    memory.write(table + kObjectType, interpreter.types.bytes);
    memory.write(table + kBytesLength, std::uint64_t{lines.size()});
    std::memcpy(memory.content().data() + (table + kBytesStart - BufferMemory::kStart),
                lines.data(), lines.size());
    memory.write(made + kObjectType, interpreter.types.code);
    memory.write(made + layout.code_file, text(file));
    memory.write(made + layout.code_function, text(function));
    memory.write(made + layout.code_first_line, first_line);
    memory.write(made + layout.code_lines, table);
    if (layout.code_serial != kNone) memory.write(made + layout.code_serial, ++serial_);
    return made;
  }

  // Calls: the frame becomes the innermost one. `instruction` is its byte.
  Address call(Address code, std::int32_t instruction, std::uint8_t owner = 0) {
    const Layout& layout = interpreter.layout;
    const Address made = take(512);
    Address around = 0;
    memory.read(innermost_, around);
    memory.write(made + layout.frame_code, code);
    memory.write(made + layout.frame_back, around);
    if (layout.frame_owner == kNone) {
      memory.write(made + kObjectType, interpreter.types.frame);
      const bool by_two = layout.lines == LineFormat::kRanges;
      memory.write(made + layout.frame_instruction, by_two ? instruction / 2 : instruction);
    } else {
      memory.write(made + layout.frame_instruction,
                   code + layout.code_start + static_cast<Address>(instruction));
      memory.write(made + layout.frame_owner, owner);
    }
    memory.write(innermost_, made);
    return made;
  }

  Interpreter interpreter;
  BufferMemory memory;
  Address thread = 0;

 private:
  Address take(std::size_t bytes) {
    const Address made = next_;
    next_ += (bytes + 15) & ~std::size_t{15};
    if (next_ - BufferMemory::kStart > memory.content().size()) {
      memory.content().resize(next_ - BufferMemory::kStart + 4096);
    }
    return made;
  }
  Address innermost_ = 0;
  Address next_ = BufferMemory::kStart;
  std::uint32_t serial_ = 0;
};

// Two lines, one after the other, for code whose first line is `first`: bytes 0 and 2 lie on
// `first` + 1, byte 4 on `first` + 4.
inline std::vector<std::uint8_t> two_lines(LineFormat format) {
  switch (format) {
    case LineFormat::kIncrements:
      return {0, 1, 4, 3};
    case LineFormat::kRanges:
      return {4, 1, 4, 3};
    default:
      return {0xD9, 0x00, 0x00, 0xE9, 0x06};  // one line on, two instructions; long form, three on
  }
}

}  // namespace ttmem::inject::frames
