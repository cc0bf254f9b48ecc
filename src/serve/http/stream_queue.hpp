// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one reader of a stream has still to be sent. The texts belong to all readers together, so a
// thousand slow ones cost no more than one; and none may fall far behind.
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>

#include "serve/http/response.hpp"

namespace ttmem::serve::http {

class StreamQueue {
 public:
  // The beginning may be as long as it is; its reader gets the time to take it.
  void begin_with(SharedText text) { put(std::move(text), true); }
  void add(SharedText text) { put(std::move(text), false); }

  // More than 64 messages or 4 MiB behind the beginning, and more than one message.
  bool is_behind() const { return count_ > kMostTexts || (count_ > 1 && bytes_ > kMostBytes); }
  bool empty() const { return waiting_.empty(); }
  std::string_view front() const {
    return std::string_view(*waiting_.front().text).substr(sent_of_front_);
  }
  void sent(std::size_t bytes) {
    sent_of_front_ += bytes;
    if (sent_of_front_ < waiting_.front().text->size()) return;
    if (!waiting_.front().beginning) {
      --count_;
      bytes_ -= waiting_.front().text->size();
    }
    waiting_.pop_front();
    sent_of_front_ = 0;
  }

 private:
  static constexpr std::size_t kMostTexts = 64;
  static constexpr std::size_t kMostBytes = 4u << 20;

  struct Waiting {
    SharedText text;
    bool beginning = false;
  };
  void put(SharedText text, bool beginning) {
    if (text->empty()) return;
    if (!beginning) {
      ++count_;
      bytes_ += text->size();
    }
    waiting_.push_back({std::move(text), beginning});
  }

  std::deque<Waiting> waiting_;
  std::size_t sent_of_front_ = 0;
  std::size_t count_ = 0, bytes_ = 0;  // without the beginning
};

}  // namespace ttmem::serve::http
