// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "serve/history/metric_table.hpp"
#include "serve/history/schema.hpp"

namespace ttmem::serve::history {
namespace {

constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kMinPages = 64;
// A series or run with a higher number was not written by us.
constexpr std::int64_t kLargestId = std::int64_t{1} << 60;
constexpr std::int64_t kLargestSecond = std::int64_t{1} << 40;

constexpr const char* kWhatToDo = "name another file with --history, or switch it off";

Store::Refusal refusal(ErrorCode code, std::string message, bool broken = false) {
  return {{code, std::move(message)}, broken};
}

std::optional<Store::Refusal> make_place(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) {
    return refusal(ErrorCode::kSystem, fmt::format("history: cannot make the folder {}: {}; {}",
                                                   folder.string(), error.message(), kWhatToDo));
  }
  // Names of processes stand in it: for nobody else. The journal takes the same mode.
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!file) {
    return refusal(ErrorCode::kNotPermitted, fmt::format("history: cannot write {}: {}; {}", path,
                                                         std::strerror(errno), kWhatToDo));
  }
  return std::nullopt;
}

std::optional<Store::Refusal> refuse_kind(FileKind kind, const std::string& path,
                                          const std::string& reason) {
  switch (kind) {
    case FileKind::kNew:
    case FileKind::kOurs:
      return std::nullopt;
    case FileKind::kNewer:
      return refusal(ErrorCode::kWrongVersion,
                     fmt::format("history: {} was written by a newer ttmem; update this one, or {}",
                                 path, kWhatToDo));
    case FileKind::kForeign:
      return refusal(ErrorCode::kWrongKind,
                     fmt::format("history: {} is not a history of ttmem, so it is left alone; {}",
                                 path, kWhatToDo));
    case FileKind::kNoFile:
      return refusal(ErrorCode::kWrongKind,
                     fmt::format("history: {} is not a file; {}", path, kWhatToDo));
    case FileKind::kUnreadable:
      break;
  }
  return refusal(ErrorCode::kNotPermitted,
                 fmt::format("history: cannot read {}: {}; {}", path, reason, kWhatToDo));
}

Store::Refusal why_not(const Database& database, const std::string& path) {
  if (database.is_locked()) {
    return refusal(ErrorCode::kSystem,
                   fmt::format("history: {} is in use by another process; {}", path, kWhatToDo));
  }
  return refusal(database.is_broken() ? ErrorCode::kCorrupt : ErrorCode::kSystem,
                 fmt::format("history: cannot use {}: {}; {}", path, database.message(), kWhatToDo),
                 database.is_broken());
}

}  // namespace

std::variant<std::unique_ptr<Store>, Store::Refusal> Store::open(const std::string& path,
                                                                 const Limits& limits) {
  // A write beyond a limit on file sizes must be an error, not the end of the daemon.
  std::signal(SIGXFSZ, SIG_IGN);
  bool is_new = true;
  if (!path.empty()) {
    std::string reason;
    const FileKind kind = kind_of(path, reason);
    if (auto refused = refuse_kind(kind, path, reason)) return *refused;
    if (auto refused = make_place(path)) return *refused;
    is_new = kind == FileKind::kNew;
  }
  auto database = Database::open(path);
  if (!database) {
    return refusal(ErrorCode::kSystem, fmt::format("history: cannot open {}: {}; {}", path,
                                                   database.error().message, kWhatToDo));
  }
  std::unique_ptr<Store> store(new Store(std::move(*database), limits));
  if (!store->prepare(is_new)) return why_not(*store->database_, path);
  return store;
}

bool Store::prepare(bool is_new) {
  max_pages_ = std::max(static_cast<std::int64_t>(limits_.file_bytes) / kPageBytes, kMinPages);
  // The schema comes before the journal of its own, so that the head of the file tells whose it is.
  const std::string limit = fmt::format("PRAGMA max_page_count={};", max_pages_);
  if (!database_->script("PRAGMA locking_mode=EXCLUSIVE; PRAGMA page_size=4096;")) return false;
  if (is_new && !make_schema(*database_)) return false;
  if (!database_->script("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                         "PRAGMA journal_size_limit=4194304; PRAGMA cache_size=-2048;"
                         "BEGIN IMMEDIATE; COMMIT;") ||
      !database_->script(limit.c_str())) {
    return false;
  }
  if (has_schema(*database_)) return true;
  return database_->script("SELECT ttmem_tables_are_missing()");  // fails, and says so
}

bool Store::load(DeviceBook& devices, Tracks& tracks, RunBook& runs, UpTimes& up) {
  const auto most = static_cast<std::int64_t>(limits_.series);
  bool good = database_->each(
      "SELECT number, unique_id, arch, mock, shown_id FROM devices LIMIT ?1", {most},
      [&](const Database::Columns& row) {
        devices.adopt({row.bits(0), row.bits(1), static_cast<std::uint8_t>(row.integer(2)),
                       row.integer(3) != 0, static_cast<std::uint32_t>(row.integer(4))});
      });
  good = good &&
         database_->each(
             "SELECT id, metric, subject, last, changed_s FROM series WHERE open LIMIT ?1", {most},
             [&](const Database::Columns& row) {
               if (const auto metric = metric_number(row.text(1))) {
                 tracks.adopt({*metric, row.bits(2)}, row.bits(0), row.maybe(3), row.integer(4));
               }
             });
  std::vector<std::uint64_t> open_runs;
  good = good && database_->each("SELECT id FROM runs WHERE ended='' LIMIT ?1",
                                 {static_cast<std::int64_t>(limits_.runs)},
                                 [&](const auto& row) { open_runs.push_back(row.bits(0)); });
  for (const std::uint64_t id : open_runs) {
    if (auto known = run(id)) runs.adopt(std::move(*known));
  }
  good = good &&
         database_->each("SELECT from_s, to_s FROM up ORDER BY from_s DESC LIMIT ?1",
                         {static_cast<std::int64_t>(limits_.up_intervals)}, [&](const auto& row) {
                           if (std::abs(row.integer(0)) < kLargestSecond &&
                               std::abs(row.integer(1)) < kLargestSecond) {
                             up.adopt(row.integer(0), row.integer(1));
                           }
                         });
  good = good && database_->each("SELECT tier, kept_from_s FROM tiers", {}, [&](const auto& row) {
    const auto tier = row.bits(0);
    if (tier < kTiers) kept_from_s_[tier] = row.integer(1);
  });
  const auto highest = [&](const char* sql) { return database_->number(sql).value_or(0); };
  const std::int64_t series = highest("SELECT max(id) FROM series");
  const std::int64_t run = highest("SELECT max(id) FROM runs");
  if (series > kLargestId || run > kLargestId || series < 0 || run < 0) {
    return database_->script("SELECT ttmem_numbers_are_out_of_bounds()");
  }
  tracks.set_next_id(static_cast<std::uint64_t>(series) + 1);
  runs.set_next_id(static_cast<std::uint64_t>(run) + 1);
  return good;
}

std::uint64_t Store::file_bytes() {
  return static_cast<std::uint64_t>(database_->number("PRAGMA page_count").value_or(0)) *
         kPageBytes;
}

}  // namespace ttmem::serve::history
