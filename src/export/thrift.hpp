// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Structs of Thrift's compact protocol, as the headers of Parquet are written. Fields are added in
// ascending order; a struct within another one is written first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::exports {

class ThriftStruct {
 public:
  void i32(int field, std::int32_t value) { number(field, 5, value); }
  void i64(int field, std::int64_t value) { number(field, 6, value); }
  void text(int field, std::string_view value) {
    start(field, 8);
    put_text(text_, value);
  }
  void one(int field, const ThriftStruct& value) {
    start(field, 12);
    text_ += value.finished();
  }
  void structs(int field, const std::vector<ThriftStruct>& values) {
    list(field, 12, values.size());
    for (const ThriftStruct& value : values) text_ += value.finished();
  }
  void numbers(int field, const std::vector<std::int32_t>& values) {
    list(field, 5, values.size());
    for (const std::int32_t value : values) varint(text_, zigzag(value));
  }
  void texts(int field, const std::vector<std::string_view>& values) {
    list(field, 8, values.size());
    for (const std::string_view value : values) put_text(text_, value);
  }
  std::string finished() const { return text_ + '\0'; }

  static void varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
    out += static_cast<char>(value);
  }

 private:
  static std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  }
  static void put_text(std::string& out, std::string_view value) {
    varint(out, value.size());
    out += value;
  }
  void start(int field, int type) {
    const int step = field - last_;
    text_ += static_cast<char>((step << 4) | type);
    last_ = field;
  }
  void number(int field, int type, std::int64_t value) {
    start(field, type);
    varint(text_, zigzag(value));
  }
  void list(int field, int type, std::size_t size) {
    start(field, 9);
    if (size < 15) {
      text_ += static_cast<char>((size << 4) | static_cast<std::size_t>(type));
    } else {
      text_ += static_cast<char>(0xF0 | type);
      varint(text_, size);
    }
  }

  std::string text_;
  int last_ = 0;
};

}  // namespace ttmem::exports
