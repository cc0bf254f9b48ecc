// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <limits>
#include <utility>

#include "serve/history/store.hpp"

namespace ttmem::serve::history {
namespace {

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

std::optional<KnownRun> Store::run(const RunBook::Identity& identity) {
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
      "devices "
      "ON device=number WHERE unique_id=?6)) ORDER BY id DESC LIMIT ?7";
  const auto integer = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  std::vector<KnownRun> found;
  bool good = database_->each(
      kSql.c_str(),
      {integer(std::min(query.before.value_or(kLargest), kLargest)),
       query.pid ? Database::Argument(std::int64_t{*query.pid}) : Database::Argument(nullptr),
       std::string_view(query.name),
       integer(std::min(query.to == 0 ? kLargest : query.to, kLargest)),
       integer(std::min(query.from, kLargest)),
       query.unique_id ? Database::Argument(integer(*query.unique_id))
                       : Database::Argument(nullptr),
       integer(query.limit)},
      [&](const Database::Columns& row) { found.push_back(to_run(row)); });
  for (KnownRun& known : found) {
    good = good && read_devices_of(known);
    if (good) visit(std::move(known));
  }
  return good;
}

}  // namespace ttmem::serve::history
