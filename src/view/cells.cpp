// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/cells.hpp"

#include <algorithm>

#include "view/characters.hpp"

namespace ttmem::view {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kEllipsis = 0x2026;

char32_t safe(const Character& character) {
  return character.valid && !is_unsafe(character.code) ? character.code : kReplacement;
}

}  // namespace

int drawn_columns(std::string_view text, int enough) {
  int columns = 0;
  while (!text.empty() && columns <= enough) {
    const Character character = next_character(text);
    columns += character_columns(safe(character));
    text.remove_prefix(character.bytes);
  }
  return columns;
}

Grid::Grid(int columns, int rows)
    : columns_(std::max(columns, 0)),
      rows_(std::max(rows, 0)),
      cells_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {}

// Keeps wide characters whole: whoever loses a half becomes a space.
void Grid::set(int x, int y, const Cell& cell) {
  TTMEM_DCHECK(has(x, y));
  Cell& old = cells_[index(x, y)];
  if (old.character == 0 && x > 0) cells_[index(x - 1, y)].character = U' ';
  if (x + 1 < columns_ && cells_[index(x + 1, y)].character == 0 && old.character != 0) {
    cells_[index(x + 1, y)].character = U' ';
  }
  old = cell;
}

void Grid::put(int x, int y, char32_t character, Look look) {
  const int columns = character_columns(character);
  if (!has(x, y) || columns == 0) return;
  if (columns == 2 && x + 1 >= columns_) {
    set(x, y, {U' ', 0, look});
    return;
  }
  set(x, y, {character, 0, look});
  if (columns == 2) {
    set(x + 1, y, {U' ', 0, look});
    cells_[index(x + 1, y)].character = 0;
  }
}

int Grid::text(int x, int y, std::string_view text, Look look, int width) {
  if (width <= 0) return 0;
  const bool cut = drawn_columns(text, width) > width;
  const int room = cut ? width - 1 : width;
  int used = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    const char32_t code = safe(character);
    const int columns = character_columns(code);
    if (used + columns > room) break;
    if (columns > 0) {
      put(x + used, y, code, look);
    } else if (used > 0 && has(x + used - 1, y)) {
      const int before = at(x + used - 1, y).character == 0 ? 2 : 1;
      if (has(x + used - before, y)) cells_[index(x + used - before, y)].mark = code;
    }
    used += columns;
    text.remove_prefix(character.bytes);
  }
  if (cut) put(x + used++, y, kEllipsis, look);
  return used;
}

int Grid::text_before(int end, int y, std::string_view text, Look look) {
  const int begin = end - drawn_columns(text, columns_);
  this->text(begin, y, text, look);
  return begin;
}

void Grid::fill(const Rect& rect, char32_t character, Look look) {
  for (int y = rect.y; y < rect.bottom(); ++y) {
    for (int x = rect.x; x < rect.right(); ++x) put(x, y, character, look);
  }
}

void Grid::put_behind(const Rect& rect, Ink back) {
  for (int y = std::max(rect.y, 0); y < std::min(rect.bottom(), rows_); ++y) {
    for (int x = std::max(rect.x, 0); x < std::min(rect.right(), columns_); ++x) {
      Look& look = cells_[index(x, y)].look;
      if (look.back == Ink::kDefault) look.back = back;
    }
  }
}

void Grid::frame(const Rect& rect, std::string_view title, Look edge, Look title_look) {
  if (rect.columns < 2 || rect.rows < 2) return;
  const int last_x = rect.right() - 1, last_y = rect.bottom() - 1;
  fill({rect.x + 1, rect.y, rect.columns - 2, 1}, U'─', edge);
  fill({rect.x + 1, last_y, rect.columns - 2, 1}, U'─', edge);
  fill({rect.x, rect.y + 1, 1, rect.rows - 2}, U'│', edge);
  fill({last_x, rect.y + 1, 1, rect.rows - 2}, U'│', edge);
  put(rect.x, rect.y, U'╭', edge);
  put(last_x, rect.y, U'╮', edge);
  put(rect.x, last_y, U'╰', edge);
  put(last_x, last_y, U'╯', edge);
  if (title.empty() || rect.columns < 7) return;
  const int used = text(rect.x + 3, rect.y, title, title_look, rect.columns - 6);
  put(rect.x + 2, rect.y, U' ', edge);
  put(rect.x + 3 + used, rect.y, U' ', edge);
}

}  // namespace ttmem::view
