// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The file as SQLite knows it: a few calls that cannot throw, what our tables look like, and how a
// file is told from others before SQLite touches it. A statement is prepared once and kept. What
// fails returns false, and code() and message() say why.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ttmem::serve::history {

class Database {
 public:
  using Argument = std::variant<std::nullptr_t, std::int64_t, std::string_view>;

  // The columns of one row.
  class Columns {
   public:
    explicit Columns(sqlite3_stmt* statement) : statement_(statement) {}
    std::int64_t integer(int column) const;
    std::uint64_t bits(int column) const { return static_cast<std::uint64_t>(integer(column)); }
    std::optional<std::int64_t> maybe(int column) const;
    std::string text(int column) const;

   private:
    sqlite3_stmt* statement_;
  };
  using Visit = std::function<void(const Columns&)>;

  // An empty path: in memory. Fails where the file cannot be opened at all; that it is a database
  // shows at the first statement.
  static Result<std::unique_ptr<Database>> open(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Several statements without arguments.
  bool script(const char* sql);
  bool run(const char* sql, const std::vector<Argument>& arguments = {});
  bool each(const char* sql, const std::vector<Argument>& arguments, const Visit& visit);
  // The one number that a statement gives; empty if it fails or gives nothing.
  std::optional<std::int64_t> number(const char* sql, const std::vector<Argument>& arguments = {});

  int code() const { return code_; }  // of the last failure
  const std::string& message() const { return message_; }
  // Undoes a transaction; the failure that led to it stays the last one.
  void roll_back();
  bool is_broken() const;  // the last failure says that the file contradicts itself
  bool is_locked() const;  // somebody else has it
  bool is_full() const;    // the disk, or the limit of pages

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}
  sqlite3_stmt* prepared(const char* sql);
  bool bind(sqlite3_stmt* statement, const std::vector<Argument>& arguments);
  bool fail(int code);

  sqlite3* handle_;
  std::unordered_map<std::string_view, sqlite3_stmt*> statements_;  // by text, which must live on
  int code_ = 0;
  std::string message_;
};

inline Database::Argument argument(const std::optional<std::int64_t>& value) {
  return value ? Database::Argument(*value) : Database::Argument(nullptr);
}

inline constexpr std::int64_t kApplicationId = 0x74746d68;  // "ttmh"
inline constexpr std::int64_t kFormat = 1;

enum class FileKind : std::uint8_t { kNew, kOurs, kNewer, kForeign, kNoFile, kUnreadable };

// Looks at the first bytes of the file alone. `kNoFile`: a folder, a device or the like.
FileKind kind_of(const std::string& path, std::string& reason);

bool make_schema(Database& database);
// Exactly our tables and nothing else: no trigger, no view.
bool has_schema(Database& database);

}  // namespace ttmem::serve::history
