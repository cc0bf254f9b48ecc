// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The history file: its tables, one batch of changes in, rows out.
//
//   devices, series, runs, run_devices   what the numbers in the others mean
//   points (tier, slab, series, step)    a row for each step with a change; a slab is 128 steps
//                                        and is dropped as a whole
//   tiers                                since when a tier is complete
//   up                                   when the daemon was there
//   clocks                               which boot, steady and wall clock the times are of
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "serve/history/clocks.hpp"
#include "serve/history/known_subjects.hpp"
#include "serve/history/query.hpp"
#include "serve/history/tracks.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ttmem::serve::history {

// The file as SQLite knows it: a few calls that cannot throw, what our tables look like, and how a
// file is told from others before SQLite touches it. A statement is prepared once and kept. What
// fails returns false, and code() and message() say why.
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
inline constexpr std::int64_t kFormat = 3;

enum class FileKind : std::uint8_t { kNew, kOurs, kNewer, kForeign, kNoFile, kUnreadable };

// Looks at the first bytes of the file alone. `kNoFile`: a folder, a device or the like.
FileKind kind_of(const std::string& path, std::string& reason);

bool make_schema(Database& database);
// Brings a file of an earlier format up to this one; nothing in it is lost.
bool renew_schema(Database& database);
// Exactly our tables and nothing else: no trigger, no view.
bool has_schema(Database& database);

struct StoredSeries {
  std::uint64_t id = 0;
  SeriesKey key;
  Value last;
  std::int64_t changed_s = 0;
};

class Store {
 public:
  // What is not a history of this version is refused without a change to it; `broken` tells whether
  // it is one of ours that contradicts itself. An empty path: in memory.
  struct Refusal {
    Error error;
    bool broken = false;
  };
  static std::variant<std::unique_ptr<Store>, Refusal> open(const std::string& path,
                                                            const Limits& limits);

  // Fills them from the file.
  bool load(KnownDevices& devices, Tracks& tracks, KnownRuns& runs, UpTimes& up,
            ClockRecord& clocks);

  // One transaction. Also drops what is too old, by the time that is believed, or too much.
  bool write(const KnownDevices& devices, const Tracks& tracks, const KnownRuns& runs,
             const UpTimes& up, const ClockRecord& clocks, const std::vector<BusyProgram>& busy,
             std::int64_t now_s);
  // What stands from there on was so much earlier: it was written under a wrong clock.
  bool move_back(std::int64_t from_s, std::int64_t by_s);

  // Rows of one series in [from, to) steps.
  bool rows(std::size_t tier, std::uint64_t series, std::int64_t from, std::int64_t to,
            const std::function<void(std::int64_t step, const Row&)>& visit);
  // What the series was before its first row at or after `step`; empty: there is none.
  std::optional<Value> before(std::size_t tier, std::uint64_t series, std::int64_t step,
                              std::int64_t last_step);
  // Series of a metric that nobody changes any more (of processes that ended), newest first.
  std::optional<std::uint64_t> old_series(const SeriesKey& key);
  std::vector<StoredSeries> old_series(std::size_t metric, const std::vector<std::uint64_t>& runs);

  std::optional<KnownRun> run(const KnownRuns::Identity& identity);
  std::optional<KnownRun> run(std::uint64_t id);
  bool runs(const RunQuery& query, const std::function<void(KnownRun)>& visit);

  // The latest ones that the question asks for, at most kMaxBusy, in the order of time.
  bool busy_programs(const BusyQuery& query, const std::function<void(BusyProgram)>& visit);

  std::int64_t kept_from_s(std::size_t tier) const { return kept_from_s_[tier]; }
  std::uint64_t file_bytes();
  const Database& database() const { return *database_; }

 private:
  Store(std::unique_ptr<Database> database, const Limits& limits)
      : database_(std::move(database)), limits_(limits) {}
  bool prepare(bool is_new);
  bool put_rows(const Tracks& tracks);
  bool put_names(const KnownDevices& devices, const Tracks& tracks, const KnownRuns& runs);
  bool put_up(const UpTimes& up);
  bool put_clocks(const ClockRecord& clocks);
  bool put_busy(const std::vector<BusyProgram>& busy);
  bool drop_old(std::int64_t now_s);
  bool drop_until(std::size_t tier, std::int64_t slab);
  bool drop_old_names(std::int64_t now_s);
  bool shrink(std::int64_t now_s);
  std::int64_t used_pages();
  bool read_devices_of(KnownRun& known);

  std::unique_ptr<Database> database_;
  Limits limits_;
  std::array<std::int64_t, kTiers> kept_from_s_{};
  std::int64_t dropped_s_ = 0;  // when what is too old was last dropped
  std::int64_t max_pages_ = 0;
  bool up_moved_ = false;    // all times are to be written again
  bool over_limit_ = false;  // the last batch did not fit into them
};

}  // namespace ttmem::serve::history
