// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/weight_list.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "view/printable.hpp"

namespace ttmem::cli {
namespace {

using explain::TensorSpec;
using Json = nlohmann::json;

constexpr std::size_t kMostListBytes = 64u << 20;  // of a list, or of a header
constexpr std::size_t kMostTensors = 1'000'000;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // spreadsheets begin with it

Error bad(const std::string& what) { return {ErrorCode::kCorrupt, what}; }

std::vector<std::string> split(const std::string& text, std::string_view separators) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (separators.find(c) != std::string_view::npos) {
      parts.emplace_back();
    } else if (c != ' ' && c != '\t' && c != '[' && c != ']' && c != '\r') {
      parts.back() += c;
    }
  }
  return parts;
}

// As safetensors names them, and as ttnn does. 16-bit and 64-bit floats are loaded as bfloat16 and
// float32.
std::optional<explain::DataType> type_named(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  static const std::map<std::string, std::string> kOthers = {
      {"bf16", "bfloat16"}, {"f16", "bfloat16"},   {"float16", "bfloat16"}, {"f32", "float32"},
      {"f64", "float32"},   {"i32", "int32"},      {"i64", "int32"},        {"u32", "uint32"},
      {"u16", "uint16"},    {"i16", "uint16"},     {"u8", "uint8"},         {"i8", "int8"},
      {"bool", "uint8"},    {"bfp8", "bfloat8_b"}, {"bfp4", "bfloat4_b"}};
  const auto other = kOthers.find(text);
  return ledger::named<explain::DataType>(other == kOthers.end() ? text : other->second);
}

Result<std::string> read_text(std::ifstream& file) {
  std::string text;
  std::vector<char> part(1 << 16);
  while (file && text.size() <= kMostListBytes) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (text.empty()) return bad("it is empty, or no file");
  if (text.size() > kMostListBytes) return bad("it is longer than 64 MiB");
  return text;
}

// What one row says, as text; "" where it says nothing.
struct Row {
  std::string name, shape, type, layout, memory;
};

Result<ListedTensor> tensor_of(const Row& row, const TensorSpec& usual, bool type_is_given,
                               std::string& variable) {
  auto listed = parse_shape(row.shape, variable);
  if (!listed) return bad(fmt::format("{}: {}", view::printable(row.name), listed.error().message));
  const auto shape = listed->tensor.shape;
  listed->tensor = usual;
  listed->tensor.shape = shape;
  listed->tensor.name = row.name;
  if (!row.type.empty() && !type_is_given) {
    const auto type = type_named(row.type);
    if (!type) {
      return bad(fmt::format(
          "{}: ttnn has no type {}; --dtype bfloat8_b says for all of them what they become",
          view::printable(row.name), view::printable(row.type)));
    }
    listed->tensor.type = *type;
  }
  // A word that is not understood must not become the default: the sum would be another's.
  const auto layout = ledger::named<explain::TensorLayout>(row.layout);
  if (!layout && !row.layout.empty()) {
    return bad(fmt::format("{}: the layout is tile or row_major, not {}", view::printable(row.name),
                           view::printable(row.layout)));
  }
  const auto space = ledger::named<ledger::Space>(row.memory);
  if (!row.memory.empty() && space != ledger::Space::kDram && space != ledger::Space::kL1) {
    return bad(fmt::format("{}: the memory is dram or l1, not {}", view::printable(row.name),
                           view::printable(row.memory)));
  }
  if (layout) listed->tensor.layout = *layout;
  if (space) listed->tensor.space = *space;
  return listed;
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

Row row_of(const std::string& name, const Json& object) {
  const std::string shape = text_in(object, "shape");
  // A scalar takes what one number takes.
  return {name, shape == "[]" ? "1" : shape, text_in(object, "dtype"), text_in(object, "layout"),
          text_in(object, "memory")};
}

// A list of objects, or an object of objects by name, as safetensors has it.
Result<std::vector<Row>> json_rows(const std::string& text) {
  const Json document = Json::parse(text, nullptr, false);
  std::vector<Row> rows;
  if (document.is_array()) {
    for (const Json& each : document) {
      if (!each.is_object()) return bad("each tensor must be an object with name, shape and dtype");
      rows.push_back(row_of(text_in(each, "name"), each));
    }
  } else if (document.is_object()) {
    for (const auto& [name, each] : document.items()) {
      if (name != "__metadata__" && each.is_object()) rows.push_back(row_of(name, each));
    }
  } else {
    return bad("it is no JSON");
  }
  return rows;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Within quotes a comma is none, and two quotes are one.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted && line.substr(i, 2) == "\"\"") {
      cells.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  std::ranges::transform(cells, cells.begin(), trimmed);
  return cells;
}

constexpr std::array<std::string_view, 5> kColumns = {"name", "shape", "dtype", "layout", "memory"};

// A first line names the columns if one of them is the shape, or if nothing in it could be one.
bool names_columns(const std::vector<std::string>& cells) {
  const auto has_digit = [](const std::string& cell) {
    return std::ranges::any_of(cell, [](unsigned char c) { return std::isdigit(c); });
  };
  return std::ranges::find(cells, "shape") != cells.end() ||
         (cells.size() > 1 && std::ranges::none_of(cells, has_digit));
}

// Each of them once, and the shape among them.
bool are_columns(const std::vector<std::string>& names) {
  const auto known = [&](const std::string& name) {
    return std::ranges::find(kColumns, name) != kColumns.end() &&
           std::ranges::count(names, name) == 1;
  };
  return std::ranges::find(names, "shape") != names.end() && std::ranges::all_of(names, known);
}

Row row_of(const std::vector<std::string>& columns, const std::vector<std::string>& cells) {
  std::map<std::string, std::string> by_name;
  for (std::size_t i = 0; i < cells.size(); ++i) by_name[columns[i]] = cells[i];
  return {by_name["name"], by_name["shape"], by_name["dtype"], by_name["layout"],
          by_name["memory"]};
}

// A row a line; the shape with x or in quotes. A first line may name the columns in any order.
Result<std::vector<Row>> csv_rows(const std::string& text) {
  std::vector<Row> rows;
  std::vector<std::string> columns(kColumns.begin(), kColumns.end());
  std::istringstream lines(text.starts_with(kByteOrderMark) ? text.substr(3) : text);
  std::string line;
  bool first = true;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (trimmed(line).empty()) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (std::exchange(first, false) && names_columns(cells)) {
      if (!are_columns(cells))
        return bad(fmt::format("the columns are {}", fmt::join(kColumns, ",")));
      columns = cells;
      continue;
    }
    if (cells.size() > columns.size()) {
      return bad(
          fmt::format("line {} ({}) has {} cells for {} columns; a shape is written 1x32x64, "
                      "or in quotes",
                      number, view::printable(cells[0]), cells.size(), columns.size()));
    }
    rows.push_back(row_of(columns, cells));
  }
  return rows;
}

// Eight bytes of length, the header as JSON, then data that nobody needs here.
Result<std::string> safetensors_header(std::ifstream& file) {
  unsigned char bytes[8] = {};
  file.read(reinterpret_cast<char*>(bytes), sizeof bytes);
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | bytes[i];
  if (!file || length == 0 || length > kMostListBytes) return bad("it is no safetensors file");
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  if (!file) return bad("its header is cut off");
  return header;
}

Result<std::vector<Row>> rows_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::kNotFound, std::strerror(errno)};
  const bool safetensors = path.ends_with(".safetensors");
  const auto text = safetensors ? safetensors_header(file) : read_text(file);
  if (!text) return text.error();
  const std::size_t start = text->find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : (*text)[start];
  if (safetensors || first == '{' || first == '[') return json_rows(*text);
  return csv_rows(*text);
}

}  // namespace

Result<ListedTensor> parse_shape(const std::string& text, std::string& variable) {
  ListedTensor listed;
  // Where commas part the lengths, a word may have an x.
  const bool has_commas = text.find(',') != std::string::npos;
  for (const std::string& part : split(text, has_commas ? "," : "x")) {
    if (part.empty()) return bad("a shape is numbers with commas, as in 1,32,4096");
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), length);
    const bool number = error == std::errc() && end == part.data() + part.size();
    if (!number) {
      const bool word =
          std::ranges::all_of(part, [](unsigned char c) { return std::isalpha(c) || c == '_'; });
      if (!word) return bad(fmt::format("{} is no length", view::printable(part)));
      if (!variable.empty() && variable != part) {
        return bad(fmt::format("{} and {} are both words: give one of them a number", variable,
                               view::printable(part)));
      }
      variable = part;
    }
    listed.tensor.shape.push_back(length);
    listed.is_variable.push_back(!number);
  }
  return listed;
}

Result<std::vector<ListedTensor>> read_weight_list(const std::string& path, const TensorSpec& usual,
                                                   bool type_is_given, std::string& variable) {
  const auto in_file = [&](const std::string& what) {
    return bad(fmt::format("{}: {}", view::printable(path), what));
  };
  const auto rows = rows_of(path);
  if (!rows) return Error{rows.error().code, in_file(rows.error().message).message};
  if (rows->empty()) return in_file("it lists no tensor");
  if (rows->size() > kMostTensors) return in_file("more than a million tensors");
  std::vector<ListedTensor> tensors;
  for (const Row& row : *rows) {
    auto tensor = tensor_of(row, usual, type_is_given, variable);
    if (!tensor) return in_file(tensor.error().message);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

std::vector<TensorSpec> with_value(const std::vector<ListedTensor>& tensors, std::uint64_t value) {
  std::vector<TensorSpec> specs;
  for (const ListedTensor& listed : tensors) {
    specs.push_back(listed.tensor);
    for (std::size_t i = 0; i < listed.is_variable.size(); ++i) {
      if (listed.is_variable[i]) specs.back().shape[i] = value;
    }
  }
  return specs;
}

}  // namespace ttmem::cli
