// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Holdings, events and series as tables: which columns they have stands in tables.cpp, how a table
// is written in csv.cpp and parquet.cpp. What is not known is empty, or null.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "export/formats.hpp"

namespace ttmem::exports {

enum class ColumnType : std::uint8_t { kNumber, kFlag, kText };
struct Column {
  std::string_view name;
  ColumnType type = ColumnType::kNumber;
};
using Cell = std::variant<std::monostate, std::uint64_t, bool, std::string>;

class TableWriter {
 public:
  TableWriter() = default;
  virtual ~TableWriter() = default;
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;
  // As many cells as there are columns, each of its type or empty.
  virtual void row(const std::vector<Cell>& cells) = 0;
  virtual void finish() = 0;
};
using MakeTable = std::unique_ptr<TableWriter>(std::span<const Column> columns, const Sink& sink);
MakeTable csv_table, parquet_table;

void write_holdings(const Picture& picture, MakeTable* make, const Sink& sink);
std::unique_ptr<Scribe> events_scribe(MakeTable* make, const Sink& sink);
std::unique_ptr<Scribe> series_scribe(MakeTable* make, const Sink& sink);

// As rows of the table of formats.
template <MakeTable* Make>
void holdings_table(const Picture& picture, const Sink& sink) {
  write_holdings(picture, Make, sink);
}
template <MakeTable* Make>
std::unique_ptr<Scribe> events_table(const Sink& sink) {
  return events_scribe(Make, sink);
}
template <MakeTable* Make>
std::unique_ptr<Scribe> series_table(const Sink& sink) {
  return series_scribe(Make, sink);
}

}  // namespace ttmem::exports
