// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "serve/history/store.hpp"

namespace ttmem::serve::history {
namespace {

constexpr int kLongestText = 1 << 20;

// In the order of their names, as has_schema() reads them.
constexpr const char* kPrograms =
    "CREATE TABLE programs(minute_s INTEGER, unique_id INTEGER, name TEXT, pid INTEGER, "
    "process TEXT NOT NULL, launches INTEGER NOT NULL, replays INTEGER NOT NULL, "
    "PRIMARY KEY(minute_s, unique_id, name, pid)) STRICT, WITHOUT ROWID";
constexpr const char* kClocks =
    "CREATE TABLE clocks(number INTEGER PRIMARY KEY, boot_id TEXT NOT NULL, "
    "steady INTEGER NOT NULL, time INTEGER NOT NULL, wall INTEGER NOT NULL) STRICT";
constexpr std::array<const char*, 11> kSchema = {
    kClocks,
    "CREATE TABLE devices(number INTEGER PRIMARY KEY, unique_id INTEGER NOT NULL, "
    "arch INTEGER NOT NULL, mock INTEGER NOT NULL, shown_id INTEGER NOT NULL) STRICT",
    "CREATE TABLE points(tier INTEGER, slab INTEGER, series INTEGER, step INTEGER, first INTEGER, "
    "min INTEGER, max INTEGER, last INTEGER, PRIMARY KEY(tier, slab, series, step)) "
    "STRICT, WITHOUT ROWID",
    kPrograms,
    "CREATE TABLE run_devices(run INTEGER, device INTEGER, dram INTEGER, l1 INTEGER, "
    "l1_small INTEGER, trace INTEGER, program_l1 INTEGER, PRIMARY KEY(run, device)) "
    "STRICT, WITHOUT ROWID",
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL, pid INTEGER NOT NULL, "
    "start INTEGER NOT NULL, segment TEXT NOT NULL, name TEXT NOT NULL, user TEXT NOT NULL, "
    "uid INTEGER NOT NULL, started INTEGER NOT NULL, first_seen INTEGER NOT NULL, "
    "ended_at INTEGER NOT NULL, ended TEXT NOT NULL, failures INTEGER NOT NULL) STRICT",
    "CREATE INDEX runs_by_process ON runs(boot_id, pid, start, segment)",
    "CREATE TABLE series(id INTEGER PRIMARY KEY, metric TEXT NOT NULL, subject INTEGER NOT NULL, "
    "changed_s INTEGER NOT NULL, last INTEGER, open INTEGER NOT NULL) STRICT",
    "CREATE INDEX series_by_metric ON series(metric, open, changed_s)",
    "CREATE TABLE tiers(tier INTEGER PRIMARY KEY, kept_from_s INTEGER NOT NULL) STRICT",
    "CREATE TABLE up(from_s INTEGER PRIMARY KEY, to_s INTEGER NOT NULL) STRICT",
};

constexpr std::size_t kHeaderBytes = 100;
constexpr char kMagic[] = "SQLite format 3";  // with its zero
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;

std::int64_t big_endian(const std::array<unsigned char, kHeaderBytes>& header, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | header[at + i];
  return value;
}

FileKind kind_of_header(const std::array<unsigned char, kHeaderBytes>& header) {
  if (std::memcmp(header.data(), kMagic, sizeof kMagic) != 0) return FileKind::kForeign;
  if (big_endian(header, kApplicationIdAt) != kApplicationId) return FileKind::kForeign;
  return big_endian(header, kUserVersionAt) > kFormat ? FileKind::kNewer : FileKind::kOurs;
}

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

// Our statements are right and the schema was compared: an error in them, or a broken constraint,
// comes from a file that is not as we wrote it.
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

FileKind kind_of(const std::string& path, std::string& reason) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    reason = std::strerror(errno);
    return errno == ENOENT ? FileKind::kNew : FileKind::kUnreadable;
  }
  if (!S_ISREG(status.st_mode)) return FileKind::kNoFile;
  if (status.st_size == 0) return FileKind::kNew;
  // O_NONBLOCK: whatever took the place of the file since, opening it must not wait.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    reason = std::strerror(errno);
    return FileKind::kUnreadable;
  }
  std::array<unsigned char, kHeaderBytes> header{};
  const ssize_t size = ::pread(file.get(), header.data(), header.size(), 0);
  if (size != static_cast<ssize_t>(header.size())) return FileKind::kForeign;
  return kind_of_header(header);
}

bool make_schema(Database& database) {
  if (!database.script("BEGIN EXCLUSIVE")) return false;
  const bool made = std::all_of(kSchema.begin(), kSchema.end(),
                                [&](const char* each) { return database.script(each); });
  const std::string numbers =
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", kApplicationId, kFormat);
  if (made && database.script(numbers.c_str()) && database.script("COMMIT")) return true;
  database.roll_back();
  return false;
}

bool renew_schema(Database& database) {
  const auto format = database.number("PRAGMA user_version");
  if (!format || *format >= kFormat) return true;
  const std::string version = fmt::format("PRAGMA user_version={};", kFormat);
  if (database.script("BEGIN IMMEDIATE") && (*format >= 2 || database.script(kPrograms)) &&
      database.script(kClocks) && database.script(version.c_str()) && database.script("COMMIT")) {
    return true;
  }
  database.roll_back();
  return false;
}

// Word for word: a table with another constraint, or one more, was not made by us.
bool has_schema(Database& database) {
  std::size_t found = 0;
  bool same = true;
  const bool read = database.each(
      "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name LIMIT 100", {},
      [&](const Database::Columns& row) {
        same = same && found < kSchema.size() && row.text(0) == kSchema[found];
        ++found;
      });
  return read && same && found == kSchema.size();
}

}  // namespace ttmem::serve::history
