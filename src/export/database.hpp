// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A SQLite database that is made in memory and given away as the bytes of its file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;

namespace ttmem::exports {

using Value = std::variant<std::monostate, std::int64_t, std::string>;

class Database {
 public:
  Database();
  // Creates a table; columns as SQL has them: "operation_id int, name text".
  void create(const std::string& table, const std::string& columns);
  void insert(const std::string& table, const std::vector<Value>& values);
  // The bytes of the file; "" if there was no memory for them.
  std::string bytes();

 private:
  void run(const std::string& sql);
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace ttmem::exports
