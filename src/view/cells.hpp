// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A screen as a grid of cells. What a view draws is data: tests compare it, a terminal is sent the
// difference to what it shows, a pipe gets the characters alone (view/ansi.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "view/palette.hpp"

namespace ttmem::view {

// How a cell looks beside its character.
struct Look {
  Ink ink = Ink::kDefault;
  Ink back = Ink::kDefault;
  bool strong = false;
  bool underlined = false;
  bool reversed = false;

  Look on(Ink behind) const {
    Look look = *this;
    look.back = behind;
    return look;
  }
  Look bold() const {
    Look look = *this;
    look.strong = true;
    return look;
  }
  friend bool operator==(const Look&, const Look&) = default;
};

struct Cell {
  char32_t character = U' ';  // 0: the right half of a wide character
  char32_t mark = 0;          // a combining character on it
  Look look;
  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Rect {
  int x = 0, y = 0, columns = 0, rows = 0;

  int right() const { return x + columns; }  // one past
  int bottom() const { return y + rows; }    // one past
  bool contains(int column, int row) const {
    return column >= x && column < right() && row >= y && row < bottom();
  }
  // Without a border of one cell.
  Rect inside() const { return {x + 1, y + 1, columns - 2, rows - 2}; }
};

// Columns that Grid::text takes for a text; counting ends beyond `enough`.
int drawn_columns(std::string_view text, int enough = 1 << 20);

// Everything outside of the grid is cut off. Text may come from strangers: characters that could
// move the cursor, hide or turn the text are replaced.
class Grid {
 public:
  Grid() = default;
  Grid(int columns, int rows);

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  Rect area() const { return {0, 0, columns_, rows_}; }
  const Cell& at(int x, int y) const {
    TTMEM_DCHECK(has(x, y));
    return cells_[index(x, y)];
  }

  void put(int x, int y, char32_t character, Look look);
  // Writes a line within `width` columns and returns how many it took; a longer text ends in "…".
  int text(int x, int y, std::string_view text, Look look, int width = 1 << 20);
  // The same, ending before column `end`; returns where it begins.
  int text_before(int end, int y, std::string_view text, Look look);
  void fill(const Rect& rect, char32_t character, Look look);
  // Changes what is behind the characters, where that is nothing yet.
  void put_behind(const Rect& rect, Ink back);
  // A frame with rounded corners, and a title in its upper edge.
  void frame(const Rect& rect, std::string_view title, Look edge, Look title_look);

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) +
           static_cast<std::size_t>(x);
  }
  bool has(int x, int y) const { return x >= 0 && y >= 0 && x < columns_ && y < rows_; }
  void set(int x, int y, const Cell& cell);

  int columns_ = 0, rows_ = 0;
  std::vector<Cell> cells_;
};

}  // namespace ttmem::view
