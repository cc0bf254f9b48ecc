// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "export/database.hpp"

#include <sqlite3.h>

namespace ttmem::exports {

namespace {

void bind(sqlite3_stmt* statement, int place, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    sqlite3_bind_int64(statement, place, *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
  } else {
    sqlite3_bind_null(statement, place);
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Database::Database() {
  sqlite3* opened = nullptr;
  sqlite3_open(":memory:", &opened);
  database_.reset(opened);
  run("BEGIN");
}

void Database::run(const std::string& sql) {
  sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
}

void Database::create(const std::string& table, const std::string& columns) {
  run("CREATE TABLE " + table + " (" + columns + ")");
}

void Database::insert(const std::string& table, const std::vector<Value>& values) {
  std::string sql = "INSERT INTO " + table + " VALUES (?";
  for (std::size_t i = 1; i < values.size(); ++i) sql += ",?";
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), (sql + ")").c_str(), -1, &statement, nullptr) !=
      SQLITE_OK) {
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    bind(statement, static_cast<int>(i) + 1, values[i]);
  }
  sqlite3_step(statement);
  sqlite3_finalize(statement);
}

std::string Database::bytes() {
  run("COMMIT");
  sqlite3_int64 size = 0;
  unsigned char* data = sqlite3_serialize(database_.get(), "main", &size, 0);
  if (data == nullptr) return "";
  std::string bytes(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  sqlite3_free(data);
  return bytes;
}

}  // namespace ttmem::exports
