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
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "serve/history/tracks.hpp"

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
    return refusal(ErrorCode::kSystem, fmt::format("history: cannot create the folder {}: {}; {}",
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

constexpr const char* kRunColumns =
    "SELECT id, boot_id, pid, start, segment, name, user, uid, started, first_seen, ended_at, "
    "ended, failures FROM runs ";
constexpr std::size_t kMostOldSeries = 1000;

KnownRun to_run(const Database::Columns& row) {
  KnownRun known;
  Run& run = known.run;
  run.id = row.bits(0);
  run.boot_id = row.text(1);
  run.pid = static_cast<std::int32_t>(row.integer(2));
  run.start = row.bits(3);
  known.segment = row.text(4);
  run.name = row.text(5);
  run.user = row.text(6);
  run.uid = static_cast<std::uint32_t>(row.integer(7));
  run.started = row.bits(8);
  run.first_seen = row.bits(9);
  run.ended_at = row.bits(10);
  run.ended = row.text(11);
  run.failures = row.bits(12);
  return known;
}

Row to_row(const Database::Columns& columns, int at) {
  return {columns.maybe(at), columns.maybe(at + 1), columns.maybe(at + 2), columns.maybe(at + 3)};
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
  if (!is_new && !renew_schema(*database_)) return false;
  if (has_schema(*database_)) return true;
  return database_->script("SELECT ttmem_tables_are_missing()");  // fails, and says so
}

bool Store::load(KnownDevices& devices, Tracks& tracks, KnownRuns& runs, UpTimes& up,
                 ClockRecord& clocks) {
  const auto most = static_cast<std::int64_t>(limits_.series);
  bool good = database_->each(
      "SELECT number, unique_id, arch, mock, shown_id FROM devices ORDER BY number DESC LIMIT ?1",
      {most}, [&](const Database::Columns& row) {
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
  good = good && database_->each("SELECT * FROM clocks ORDER BY number DESC LIMIT 1", {},
                                 [&](const Database::Columns& row) {
                                   clocks.adopt({row.bits(0), row.text(1), row.bits(2), row.bits(3),
                                                 row.bits(4)});
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

bool Store::rows(std::size_t tier, std::uint64_t series, std::int64_t from, std::int64_t to,
                 const std::function<void(std::int64_t step, const Row&)>& visit) {
  const auto number = static_cast<std::int64_t>(tier);
  for (std::int64_t slab = from / kSlabSteps; slab * kSlabSteps < to; ++slab) {
    const bool good = database_->each(
        "SELECT step, first, min, max, last FROM points "
        "WHERE tier=?1 AND slab=?2 AND series=?3 AND step>=?4 AND step<?5 ORDER BY step",
        {number, slab, static_cast<std::int64_t>(series), from, to},
        [&](const Database::Columns& row) { visit(row.integer(0), to_row(row, 1)); });
    if (!good) return false;
  }
  return true;
}

std::optional<Value> Store::before(std::size_t tier, std::uint64_t series, std::int64_t step,
                                   std::int64_t last_step) {
  std::optional<Value> first;
  const auto number = static_cast<std::int64_t>(tier);
  for (std::int64_t slab = step / kSlabSteps; !first && slab <= last_step / kSlabSteps; ++slab) {
    const bool good = database_->each(
        "SELECT first FROM points WHERE tier=?1 AND slab=?2 AND series=?3 AND step>=?4 "
        "ORDER BY step LIMIT 1",
        {number, slab, static_cast<std::int64_t>(series), step},
        [&](const Database::Columns& row) { first = row.maybe(0); });
    if (!good) break;
  }
  return first;
}

std::vector<StoredSeries> Store::old_series(std::size_t metric,
                                            const std::vector<std::uint64_t>& runs) {
  std::vector<StoredSeries> found;
  database_->each(
      "SELECT id, subject, changed_s FROM series WHERE metric=?1 AND NOT open "
      "ORDER BY changed_s DESC",
      {metrics()[metric].name}, [&](const Database::Columns& row) {
        const bool wanted =
            runs.empty() || std::binary_search(runs.begin(), runs.end(), row.bits(1));
        if (!wanted || found.size() >= kMostOldSeries) return;
        found.push_back({row.bits(0), {metric, row.bits(1)}, {}, row.integer(2)});
      });
  return found;
}

std::optional<std::uint64_t> Store::old_series(const SeriesKey& key) {
  const auto id = database_->number(
      "SELECT id FROM series WHERE metric=?1 AND NOT open AND subject=?2 "
      "ORDER BY changed_s DESC LIMIT 1",
      {metrics()[key.metric].name, static_cast<std::int64_t>(key.subject)});
  if (!id) return std::nullopt;
  return static_cast<std::uint64_t>(*id);
}

std::optional<KnownRun> Store::run(const KnownRuns::Identity& identity) {
  static const std::string kSql =
      std::string(kRunColumns) + "WHERE boot_id=?1 AND pid=?2 AND start=?3 AND segment=?4 LIMIT 1";
  const auto& [boot_id, pid, start, segment] = identity;
  std::optional<KnownRun> known;
  database_->each(kSql.c_str(),
                  {boot_id, std::int64_t{pid}, static_cast<std::int64_t>(start), segment},
                  [&](const Database::Columns& row) { known = to_run(row); });
  if (known && !read_devices_of(*known)) return std::nullopt;
  return known;
}

std::optional<KnownRun> Store::run(std::uint64_t id) {
  static const std::string kSql = std::string(kRunColumns) + "WHERE id=?1";
  std::optional<KnownRun> known;
  database_->each(kSql.c_str(), {static_cast<std::int64_t>(id)},
                  [&](const Database::Columns& row) { known = to_run(row); });
  if (known && !read_devices_of(*known)) return std::nullopt;
  return known;
}

bool Store::read_devices_of(KnownRun& known) {
  constexpr std::array kOrder = {ledger::Space::kDram, ledger::Space::kL1, ledger::Space::kL1Small,
                                 ledger::Space::kTrace};
  return database_->each(
      "SELECT device, dram, l1, l1_small, trace, program_l1 FROM run_devices WHERE run=?1",
      {static_cast<std::int64_t>(known.run.id)}, [&](const Database::Columns& row) {
        RunOnDevice& device = known.devices[row.bits(0)];
        for (std::size_t i = 0; i < kOrder.size(); ++i) {
          device.peaks[static_cast<std::size_t>(kOrder[i])] = row.maybe(static_cast<int>(i) + 1);
        }
        device.peak_program_l1 = row.maybe(5);
      });
}

bool Store::runs(const RunQuery& query, const std::function<void(KnownRun)>& visit) {
  static const std::string kSql =
      std::string(kRunColumns) +
      "WHERE id<?1 AND (?2 IS NULL OR pid=?2) AND (?3='' OR name=?3) AND first_seen<?4 AND "
      "(ended='' OR ended_at>=?5) AND (?6 IS NULL OR id IN (SELECT run FROM run_devices JOIN "
      "devices ON device=number WHERE unique_id=?6)) AND (?8 IS NULL OR start=?8) AND "
      "(?9='' OR substr(segment,-length(?9))=?9) ORDER BY id DESC LIMIT ?7";
  const auto integer = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const auto& process = query.process;
  std::vector<KnownRun> found;
  bool good = database_->each(
      kSql.c_str(),
      {integer(std::min(query.before.value_or(kLargest), kLargest)),
       process ? Database::Argument(std::int64_t{process->pid}) : Database::Argument(nullptr),
       std::string_view(query.name),
       integer(std::min(query.to == 0 ? kLargest : query.to, kLargest)),
       integer(std::min(query.from, kLargest)),
       query.device ? Database::Argument(integer(query.device->unique_id.value_or(0)))
                    : Database::Argument(nullptr),
       integer(query.limit),
       process && process->start ? Database::Argument(integer(*process->start))
                                 : Database::Argument(nullptr),
       std::string_view(process ? process->segment_end : "")},
      [&](const Database::Columns& row) { found.push_back(to_run(row)); });
  for (KnownRun& known : found) {
    good = good && read_devices_of(known);
    if (good) visit(std::move(known));
  }
  return good;
}

bool Store::busy_programs(const BusyQuery& query, const std::function<void(BusyProgram)>& visit) {
  const auto second = [](TimeNs time) { return static_cast<std::int64_t>(time / kSecondNs); };
  const std::uint64_t wanted = query.device ? query.device->unique_id.value_or(0) : 0;
  return database_->each(
      "SELECT * FROM (SELECT minute_s, unique_id, name, process, pid, launches, replays "
      "FROM programs WHERE minute_s >= ?1 AND minute_s < ?2 AND (?3 = 0 OR unique_id = ?4) "
      "ORDER BY minute_s DESC LIMIT ?5) ORDER BY minute_s, unique_id, launches DESC, name",
      {second(query.from), second(query.to), std::int64_t{query.device.has_value()},
       static_cast<std::int64_t>(wanted), static_cast<std::int64_t>(kMaxBusy)},
      [&](const Database::Columns& row) {
        visit({row.integer(0), row.bits(1), row.text(2), row.text(3),
               static_cast<std::int32_t>(row.integer(4)), row.bits(5), row.bits(6)});
      });
}

}  // namespace ttmem::serve::history
