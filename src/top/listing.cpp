// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/listing.hpp"

#include <algorithm>
#include <numeric>

#include "base/assert.hpp"
#include "top/sort_orders.hpp"
#include "view/characters.hpp"

namespace ttmem::top {
namespace {

// Which order the column stands for; -1: none.
int order_of(const Listing& listing, const ListColumn& column) {
  if (column.order.empty()) return -1;
  const auto found = std::ranges::find(listing.orders, column.order);
  TTMEM_CHECK(found != listing.orders.end());
  return static_cast<int>(found - listing.orders.begin());
}

// Which columns are shown, and how wide; 0 = not shown. What the list is sorted by stays.
std::vector<int> fitted_widths(const Listing& listing, int room) {
  const std::vector<ListColumn>& columns = listing.columns;
  const auto stays = [&](const ListColumn& column) {
    return column.importance == 0 || order_of(listing, column) == listing.sorted_by;
  };
  std::vector<int> widths;
  for (const ListColumn& column : columns) widths.push_back(column.width);
  const auto used = [&] {
    int sum = 0, shown = 0;
    for (const int width : widths) {
      sum += width;
      shown += width > 0 ? 1 : 0;
    }
    return sum + kColumnGap * std::max(0, shown - 1);
  };
  while (used() > room) {
    int leaves = -1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (widths[i] == 0 || stays(columns[i])) continue;
      if (leaves < 0 ||
          columns[i].importance >= columns[static_cast<std::size_t>(leaves)].importance) {
        leaves = static_cast<int>(i);
      }
    }
    if (leaves < 0) break;
    widths[static_cast<std::size_t>(leaves)] = 0;
  }
  int stretch = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    stretch += widths[i] > 0 ? columns[i].stretch : 0;
  int rest = std::max(0, room - used());
  for (std::size_t i = 0; i < columns.size() && stretch > 0; ++i) {
    if (widths[i] == 0 || columns[i].stretch == 0) continue;
    const int share = rest * columns[i].stretch / stretch;
    widths[i] += share;
    rest -= share;
    stretch -= columns[i].stretch;
  }
  return widths;
}

void draw_cell(Canvas& canvas, const ListCell& cell, const ListColumn& column, int x, int y,
               int width) {
  if (cell.draw) {
    cell.draw(canvas.grid, x, y, width);
  } else if (column.right) {
    const int used = std::min(width, view::drawn_columns(cell.text, width));
    canvas.grid.text(x + width - used, y, cell.text, cell.look, width);
  } else {
    canvas.grid.text(x, y, cell.text, cell.look, width);
  }
}

void draw_row(Canvas& canvas, int x, int y, const Listing& listing, const std::vector<int>& widths,
              const std::vector<ListCell>& cells) {
  TTMEM_DCHECK(cells.size() <= widths.size());  // a cell without a column would not be seen
  for (std::size_t i = 0; i < widths.size() && i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    draw_cell(canvas, cells[i], listing.columns[i], x, y, widths[i]);
    x += widths[i] + kColumnGap;
  }
}

void draw_titles(Canvas& canvas, const view::Rect& place, const Listing& listing,
                 const std::vector<int>& widths) {
  int x = place.x;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    const ListColumn& column = listing.columns[i];
    const int order = order_of(listing, column);
    const bool sorted = order == listing.sorted_by;
    ListCell title{column.title, sorted ? looks::kKey.bold() : looks::kSoft, {}};
    if (sorted) title.text += listing.reversed ? "▲" : "▼";
    draw_cell(canvas, title, column, x, place.y, widths[i]);
    if (order >= 0) {
      canvas.zones.push_back({{x, place.y, widths[i], 1}, ZoneKind::kSort, order});
    }
    x += widths[i] + kColumnGap;
  }
}

}  // namespace

int first_shown(int selected, int rows, int height) {
  return std::clamp(selected - height / 2, 0, std::max(0, rows - height));
}

Listing listing_of(const ScreenState& state, std::size_t rows) {
  const ListState& list = state.list();
  Listing listing;
  listing.orders = order_titles(state);
  listing.rows = static_cast<int>(rows);
  listing.selected = std::min(list.selected, listing.rows - 1);
  listing.sorted_by = list.sort;
  listing.reversed = list.reversed;
  return listing;
}

void draw_scroll_mark(Canvas& canvas, const view::Rect& place, int first, int shown, int rows) {
  if (rows <= shown || shown <= 0) return;
  const int height = std::max(1, shown * shown / rows);
  const int top = (shown - height) * first / std::max(1, rows - shown);
  canvas.grid.fill({place.right(), place.y + top, 1, height}, U'┃', looks::kSoft);
}

void draw_list(Canvas& canvas, const view::Rect& place, const Listing& listing) {
  TTMEM_CHECK(listing.rows == 0 || listing.row != nullptr);
  TTMEM_DCHECK(listing.selected < std::max(1, listing.rows));
  if (place.rows < 2 || place.columns < 4) return;
  const std::vector<int> widths = fitted_widths(listing, place.columns);
  draw_titles(canvas, place, listing, widths);
  view::Rect body{place.x, place.y + 1, place.columns, place.rows - 1};
  if (!listing.footer.empty() && body.rows >= 2) {
    --body.rows;
    const int below = body.y + std::min(listing.rows, body.rows);
    draw_row(canvas, body.x, below, listing, widths, listing.footer);
  }
  const int first = first_shown(std::max(0, listing.selected), listing.rows, body.rows);
  const int shown = std::min(body.rows, listing.rows - first);
  for (int line = 0; line < shown; ++line) {
    const int y = body.y + line;
    draw_row(canvas, body.x, y, listing, widths, listing.row(first + line));
    const view::Rect whole{body.x, y, body.columns, 1};
    if (first + line == listing.selected) canvas.grid.put_behind(whole, view::Ink::kSelection);
    canvas.zones.push_back({whole, ZoneKind::kRow, listing.first_zone + first + line});
  }
  draw_scroll_mark(canvas, body, first, shown, listing.rows);
}

namespace {

// How many bytes from the front fit; at least one character.
std::size_t fitting_bytes(std::string_view text, int columns) {
  std::size_t bytes = 0;
  int used = 0;
  while (bytes < text.size()) {
    const view::Character character = view::next_character(text.substr(bytes));
    used += character.valid ? view::character_columns(character.code) : 1;
    if (used > columns && bytes > 0) break;
    bytes += character.bytes;
  }
  return bytes;
}

}  // namespace

std::vector<std::string_view> wrapped(std::string_view text, int columns, std::size_t most) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < most) {
    const std::size_t whole = std::min(text.find('\n'), text.size());
    std::size_t end = fitting_bytes(text.substr(0, whole), columns);
    const std::size_t space = text.substr(0, end + 1).rfind(' ');
    if (end < whole && space != std::string_view::npos && space > 0) end = space;
    lines.push_back(text.substr(0, end));
    const bool skip = end < text.size() && (text[end] == ' ' || text[end] == '\n');
    text.remove_prefix(end + (skip ? 1 : 0));
  }
  return lines;
}

}  // namespace ttmem::top
