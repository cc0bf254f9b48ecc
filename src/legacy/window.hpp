// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The part of a screen that a terminal has room for: a host with eight devices fills several. The
// last lines, which name the keys, are always in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ttmem::legacy {

// The lines at the end of every watched screen that stay where they are.
inline constexpr std::size_t kFooterLines = 4;

class Window {
 public:
  // What to draw, without a line break at its end. `rows` 0: nobody knows, so all of it.
  std::string show(std::string_view text, std::size_t rows);

  void move(std::ptrdiff_t lines) { wanted_ += lines; }
  void page(std::ptrdiff_t pages) { move(pages * static_cast<std::ptrdiff_t>(page_)); }
  void to_top() { wanted_ = 0; }

 private:
  std::ptrdiff_t wanted_ = 0;  // the first line to show
  std::size_t page_ = 1;       // lines that were shown last
};

}  // namespace ttmem::legacy
