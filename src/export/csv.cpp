// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A table by RFC 4180.
#include <string>

#include "export/tables.hpp"

namespace ttmem::exports {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"') all += '"';
    all += c;
  }
  return all + "\"";
}

std::string cell_text(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&cell)) return quoted(*text);
  return "";
}

class CsvTable : public TableWriter {
 public:
  CsvTable(std::span<const Column> columns, Sink sink) : sink_(std::move(sink)) {
    std::vector<Cell> names;
    for (const Column& column : columns) names.emplace_back(std::string(column.name));
    row(names);
  }
  void row(const std::vector<Cell>& cells) override {
    std::string line;
    for (const Cell& cell : cells) line += (&cell == cells.data() ? "" : ",") + cell_text(cell);
    sink_(line + "\r\n");
  }
  void finish() override {}

 private:
  Sink sink_;
};

}  // namespace

std::unique_ptr<TableWriter> csv_table(std::span<const Column> columns, const Sink& sink) {
  return std::make_unique<CsvTable>(columns, sink);
}

}  // namespace ttmem::exports
