// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Names as people order them: "layer 2" before "layer 10", "model.py:9" before "model.py:81".
#pragma once

#include <algorithm>
#include <string_view>

namespace ttmem {

struct NumberOrder {
  using is_transparent = void;

  bool operator()(std::string_view a, std::string_view b) const {
    const std::string_view whole_a = a, whole_b = b;
    while (!a.empty() && !b.empty()) {
      if (is_digit(a.front()) && is_digit(b.front())) {
        const std::string_view one = take_number(a), other = take_number(b);
        if (one.size() != other.size()) return one.size() < other.size();
        if (one != other) return one < other;
      } else {
        if (a.front() != b.front()) return a.substr(0, 1) < b.substr(0, 1);
        a.remove_prefix(1);
        b.remove_prefix(1);
      }
    }
    // "1" and "01" are two names all the same.
    return a.empty() == b.empty() ? whole_a < whole_b : a.empty();
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  // Without its leading zeros.
  static std::string_view take_number(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string_view number = text.substr(0, end);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    text.remove_prefix(end);
    return number;
  }
};

}  // namespace ttmem
