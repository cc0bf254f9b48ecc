// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A table in text: columns as wide as their widest cell, as a terminal shows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view/style.hpp"

namespace ttmem::view {

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Cells are printed as they are: make them printable first.
  void add(std::vector<std::string> cells, Tone tone = Tone::kPlain);
  bool empty() const { return rows_.empty(); }

  // Title row and rows, each with `indent` spaces before it; no trailing spaces.
  std::string text(const Style& style, std::size_t indent) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Tone tone;
  };
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace ttmem::view
