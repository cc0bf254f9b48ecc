// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Fields of a protobuf message, in the order in which they are added. A message within another one
// is written first and added as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::exports {

class Message {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
  }
  // Eight bytes as they are: fixed64, sfixed64 and double.
  void fixed(std::uint32_t field, std::uint64_t value) {
    varint((std::uint64_t{field} << 3) | 1u);
    for (int i = 0; i < 8; ++i) text_ += static_cast<char>((value >> (8 * i)) & 0xFF);
  }
  void bytes(std::uint32_t field, std::string_view value) {
    varint((std::uint64_t{field} << 3) | 2u);
    varint(value.size());
    text_ += value;
  }
  void message(std::uint32_t field, const Message& value) { bytes(field, value.text_); }
  void packed(std::uint32_t field, const std::vector<std::uint64_t>& values) {
    Message list;
    for (const std::uint64_t value : values) list.varint(value);
    message(field, list);
  }
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>((value & 0x7F) | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

}  // namespace ttmem::exports
