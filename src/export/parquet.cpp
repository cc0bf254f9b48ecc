// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A table as Parquet: every column optional and plain, one page a column and row group, packed with
// zstd. Debian has no library that writes it, and this part of the format is small.
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "export/tables.hpp"
#include "export/thrift.hpp"

namespace ttmem::exports {

namespace {

constexpr std::size_t kRowsOfGroup = 1u << 17;
constexpr int kPackLevel = 3;
// Enumerations of parquet.thrift.
constexpr std::int32_t kBoolean = 0, kInt64 = 2, kByteArray = 6;
constexpr std::int32_t kOptional = 1, kUtf8 = 0, kPlain = 0, kRle = 3, kZstd = 6, kDataPage = 0;

std::int32_t parquet_type(ColumnType type) {
  return type == ColumnType::kText ? kByteArray : type == ColumnType::kFlag ? kBoolean : kInt64;
}

template <typename Value>
void put_bytes(std::string& out, Value value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

class Bits {
 public:
  void add(bool bit) {
    if (count_ % 8 == 0) bytes_ += '\0';
    if (bit) bytes_.back() = static_cast<char>(bytes_.back() | (1 << (count_ % 8)));
    ++count_;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

// One column of the rows that are not written yet.
struct Chunk {
  Bits present, flags;
  std::string values;

  void add(const Cell& cell) {
    present.add(cell.index() != 0);
    if (const auto* number = std::get_if<std::uint64_t>(&cell)) put_bytes(values, *number);
    if (const auto* flag = std::get_if<bool>(&cell)) flags.add(*flag);
    if (const auto* text = std::get_if<std::string>(&cell)) {
      put_bytes(values, static_cast<std::uint32_t>(text->size()));
      values += *text;
    }
  }
  // Which are there, as one bit-packed run, and the values.
  std::string page() const {
    std::string levels;
    ThriftStruct::varint(levels, (present.bytes().size() << 1) | 1u);
    levels += present.bytes();
    std::string all;
    put_bytes(all, static_cast<std::uint32_t>(levels.size()));
    return all + levels + values + flags.bytes();
  }
};

std::string packed(const std::string& plain) {
  std::string bytes(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress(bytes.data(), bytes.size(), plain.data(), plain.size(), kPackLevel);
  bytes.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return bytes;
}

class ParquetTable : public TableWriter {
 public:
  ParquetTable(std::span<const Column> columns, Sink sink)
      : columns_(columns.begin(), columns.end()), chunks_(columns.size()), sink_(std::move(sink)) {
    write("PAR1");
  }
  void row(const std::vector<Cell>& cells) override {
    for (std::size_t i = 0; i < cells.size(); ++i) chunks_[i].add(cells[i]);
    if (++rows_ == kRowsOfGroup) write_group();
  }
  void finish() override {
    if (rows_ > 0) write_group();
    const std::string footer = metadata().finished();
    write(footer);
    std::string size;
    put_bytes(size, static_cast<std::uint32_t>(footer.size()));
    write(size + "PAR1");
  }

 private:
  void write(std::string_view bytes) {
    sink_(bytes);
    written_ += static_cast<std::int64_t>(bytes.size());
  }
  void write_group() {
    std::vector<ThriftStruct> chunks;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      chunks.push_back(write_chunk(columns_[i], chunks_[i], bytes));
      chunks_[i] = {};
    }
    ThriftStruct group;
    group.structs(1, chunks);
    group.i64(2, bytes);
    group.i64(3, rows_);
    groups_.push_back(group);
    all_rows_ += rows_;
    rows_ = 0;
  }
  ThriftStruct write_chunk(const Column& column, const Chunk& chunk, std::int64_t& bytes) {
    const std::string plain = chunk.page();
    const std::string body = packed(plain);
    ThriftStruct data;
    data.i32(1, static_cast<std::int32_t>(rows_));
    data.i32(2, kPlain);
    data.i32(3, kRle);
    data.i32(4, kRle);
    ThriftStruct page;
    page.i32(1, kDataPage);
    page.i32(2, static_cast<std::int32_t>(plain.size()));
    page.i32(3, static_cast<std::int32_t>(body.size()));
    page.one(5, data);
    const std::string head = page.finished();
    const std::int64_t offset = written_;
    write(head);
    write(body);
    const auto plain_bytes = static_cast<std::int64_t>(head.size() + plain.size());
    bytes += plain_bytes;
    ThriftStruct about;
    about.i32(1, parquet_type(column.type));
    about.numbers(2, {kPlain, kRle});
    about.texts(3, {column.name});
    about.i32(4, kZstd);
    about.i64(5, rows_);
    about.i64(6, plain_bytes);
    about.i64(7, static_cast<std::int64_t>(head.size() + body.size()));
    about.i64(9, offset);
    ThriftStruct result;
    result.i64(2, offset);
    result.one(3, about);
    return result;
  }
  ThriftStruct metadata() const {
    std::vector<ThriftStruct> schema(1);
    schema[0].text(4, "schema");
    schema[0].i32(5, static_cast<std::int32_t>(columns_.size()));
    for (const Column& column : columns_) {
      ThriftStruct& element = schema.emplace_back();
      element.i32(1, parquet_type(column.type));
      element.i32(3, kOptional);
      element.text(4, column.name);
      if (column.type == ColumnType::kText) element.i32(6, kUtf8);
    }
    ThriftStruct file;
    file.i32(1, 1);
    file.structs(2, schema);
    file.i64(3, all_rows_);
    file.structs(4, groups_);
    file.text(6, "ttmem");
    return file;
  }

  std::vector<Column> columns_;
  std::vector<Chunk> chunks_;
  Sink sink_;
  std::vector<ThriftStruct> groups_;
  std::int64_t rows_ = 0, all_rows_ = 0, written_ = 0;
};

}  // namespace

std::unique_ptr<TableWriter> parquet_table(std::span<const Column> columns, const Sink& sink) {
  return std::make_unique<ParquetTable>(columns, sink);
}

}  // namespace ttmem::exports
