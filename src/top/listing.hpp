// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A list on the screen: as many columns as fit, as many rows as fit around the selected one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "top/canvas.hpp"

namespace ttmem::top {

inline constexpr int kColumnGap = 2;

struct ListColumn {
  std::string title;
  int width = 8;
  bool right = false;      // aligned to the right
  int importance = 0;      // 0 stays longest; higher ones leave first when there is no room
  int stretch = 0;         // share of the room that is left over
  std::string_view order;  // a click on the title sorts by the order of this title; "" = none
};

// One cell of a row: text, or something drawn into the place given.
struct ListCell {
  std::string text;
  view::Look look = looks::kText;
  std::function<void(view::Grid& grid, int x, int y, int columns)> draw;
};

struct Listing {
  std::vector<ListColumn> columns;
  int rows = 0;
  int selected = -1;                     // -1: none
  int first_zone = 0;                    // number of the first row for clicks
  std::vector<std::string_view> orders;  // titles of all; empty: it has one only
  int sorted_by = 0;                     // which of them
  bool reversed = false;
  // Called for the rows that are seen, with the columns that are: fill one cell per column.
  std::function<std::vector<ListCell>(int row)> row;
  std::vector<ListCell> footer;  // a line below the rows, in the same columns, if there is room
};

// The list that is shown as the person chose: which row is selected, and the order.
Listing listing_of(const ScreenState& state, std::size_t rows);

// Titles in the first line of the place, rows below; a mark at the right edge says where one is.
void draw_list(Canvas& canvas, const view::Rect& place, const Listing& listing);

// That mark, right of the place, when `shown` of `rows` are seen from `first` on.
void draw_scroll_mark(Canvas& canvas, const view::Rect& place, int first, int shown, int rows);

// The first row shown when `selected` of `rows` must be seen in `height` lines.
int first_shown(int selected, int rows, int height);

// A long text in several lines.

// Broken at line ends and, where a line would be wider than `columns`, at its last space; at most
// `most` lines, all of them pieces of the text.
std::vector<std::string_view> wrapped(std::string_view text, int columns, std::size_t most);

}  // namespace ttmem::top
