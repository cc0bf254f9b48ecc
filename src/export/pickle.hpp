// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Python's pickle, protocol 4: numbers, texts, lists, dicts and pairs, written as they come. Texts
// are written once and then called by their number. Lists are filled in batches, as Python does it:
// readers in browsers cannot take long ones at once.
//
//   pickle.begin_dict(); pickle.text("size"); pickle.number(4096); pickle.end_dict();
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

namespace ttmem::exports {

class Pickle {
 public:
  using Write = std::function<void(std::string_view)>;
  explicit Pickle(Write write) : write_(std::move(write)) { put("\x80\x04", 2); }

  void number(std::uint64_t value) {
    if (value < 0x100) {
      put('K');
      little(value, 1);
    } else if (value < 0x8000'0000u) {
      put('J');
      little(value, 4);
    } else {
      // Two's complement: the highest bit is the sign. Readers in browsers take no more than eight
      // bytes for a number that they can add to others.
      const bool needs_room = (value >> 63) != 0;
      put(needs_room ? "\x8a\x09" : "\x8a\x08", 2);
      little(value, 8);
      if (needs_room) put('\0');
    }
  }
  void text(const std::string& value) {
    const auto [known, added] = texts_.try_emplace(value, memos_);
    if (!added) return recall(known->second);
    put('X');
    little(value.size(), 4);
    put(value.data(), value.size());
    remember();
  }
  void begin_dict() { put("}(", 2); }
  void end_dict() { put('u'); }
  // `each(i)` writes item i.
  void list(std::size_t size, const std::function<void(std::size_t)>& each) {
    put(']');
    fill(size, each);
  }
  // The same, and its number, by which recall() writes it again.
  std::uint32_t remembered_list(std::size_t size, const std::function<void(std::size_t)>& each) {
    put(']');
    const std::uint32_t memo = remember();
    fill(size, each);
    return memo;
  }
  void recall(std::uint32_t memo) {
    put(memo < 0x100 ? 'h' : 'j');
    little(memo, memo < 0x100 ? 1 : 4);
  }
  void pair(std::uint64_t first, std::uint64_t second) {
    number(first);
    number(second);
    put('\x86');
  }
  void finish() {
    put('.');
    flush();
  }

 private:
  static constexpr std::size_t kBatch = 1000;
  static constexpr std::size_t kWriteAtOnce = 1u << 16;

  void fill(std::size_t size, const std::function<void(std::size_t)>& each) {
    for (std::size_t i = 0; i < size; ++i) {
      if (i % kBatch == 0) put('(');
      each(i);
      if (i % kBatch == kBatch - 1 || i + 1 == size) put('e');
    }
  }
  std::uint32_t remember() {
    put('\x94');
    return memos_++;
  }
  void put(char byte) { put(&byte, 1); }
  void put(const char* bytes, std::size_t size) {
    waiting_.append(bytes, size);
    if (waiting_.size() >= kWriteAtOnce) flush();
  }
  void little(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) put(static_cast<char>((value >> (8 * i)) & 0xFF));
  }
  void flush() {
    write_(waiting_);
    waiting_.clear();
  }

  Write write_;
  std::string waiting_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::uint32_t memos_ = 0;
};

}  // namespace ttmem::exports
