// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/database.hpp"

#include <sqlite3.h>

#include <fmt/format.h>

namespace ttmem::serve::history {
namespace {

constexpr int kLongestText = 1 << 20;

}  // namespace

std::int64_t Database::Columns::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::optional<std::int64_t> Database::Columns::maybe(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::string Database::Columns::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr || size <= 0 ? std::string()
                                       : std::string(bytes, static_cast<std::size_t>(size));
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                    SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  const int code =
      sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle));
  if (code != SQLITE_OK) {
    const char* reason = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    return Error{ErrorCode::kSystem, reason};
  }
  // The file may be a stranger's: nothing in it may run code or cost without bound.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestText);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

bool Database::script(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK || fail(code);
}

bool Database::run(const char* sql, const std::vector<Argument>& arguments) {
  return each(sql, arguments, [](const Columns&) {});
}

bool Database::each(const char* sql, const std::vector<Argument>& arguments, const Visit& visit) {
  sqlite3_stmt* statement = prepared(sql);
  if (statement == nullptr || !bind(statement, arguments)) return false;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) visit(Columns(statement));
  const bool good = code == SQLITE_DONE || fail(code);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return good;
}

std::optional<std::int64_t> Database::number(const char* sql,
                                             const std::vector<Argument>& arguments) {
  std::optional<std::int64_t> result;
  if (!each(sql, arguments, [&](const Columns& row) { result = row.maybe(0); })) return {};
  return result;
}

void Database::roll_back() { sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr); }

bool Database::is_broken() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_ERROR ||
         primary == SQLITE_SCHEMA || primary == SQLITE_MISMATCH || primary == SQLITE_CONSTRAINT ||
         primary == SQLITE_TOOBIG || code_ == SQLITE_IOERR_SHORT_READ;
}

bool Database::is_locked() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
}

bool Database::is_full() const {
  return (code_ & 0xff) == SQLITE_FULL || code_ == SQLITE_IOERR_WRITE;
}

sqlite3_stmt* Database::prepared(const char* sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return known->second;
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    fail(code);
    return nullptr;
  }
  statements_.emplace(sql, statement);
  return statement;
}

bool Database::bind(sqlite3_stmt* statement, const std::vector<Argument>& arguments) {
  int place = 0;
  for (const Argument& each : arguments) {
    ++place;
    int code = SQLITE_OK;
    if (const auto* number = std::get_if<std::int64_t>(&each)) {
      code = sqlite3_bind_int64(statement, place, *number);
    } else if (const auto* text = std::get_if<std::string_view>(&each)) {
      code = sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
    } else {
      code = sqlite3_bind_null(statement, place);
    }
    if (code != SQLITE_OK) return fail(code);
  }
  return true;
}

bool Database::fail(int code) {
  code_ = code;
  message_ = fmt::format("{} ({})", sqlite3_errmsg(handle_), sqlite3_errstr(code));
  return false;
}

}  // namespace ttmem::serve::history
