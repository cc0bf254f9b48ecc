// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/table.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "view/printable.hpp"

namespace ttmem::view {

void Table::add(std::vector<std::string> cells, Tone tone) {
  TTMEM_CHECK(cells.size() <= columns_.size());  // a cell without a column would be lost
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), tone});
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    line += columns_[i].align == Align::kRight ? pad_left(cells[i], widths[i])
                                               : pad_right(cells[i], widths[i]);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Table::text(const Style& style, std::size_t indent) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(display_width(column.title));
  }
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i]));
    }
  }
  const std::string margin(indent, ' ');
  std::string text = margin + style.paint(Tone::kFaint, line(titles, widths)) + "\n";
  for (const Row& row : rows_) {
    text += margin + style.paint(row.tone, line(row.cells, widths)) + "\n";
  }
  return text;
}

}  // namespace ttmem::view
