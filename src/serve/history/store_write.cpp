// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include "serve/history/store.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {
namespace {

// As merge() of row.hpp does: the first stays, the last is replaced, the others widen.
constexpr std::string_view kMergeRow =
    "ON CONFLICT DO UPDATE SET "
    "min=min(coalesce(min, excluded.min), coalesce(excluded.min, min)), "
    "max=max(coalesce(max, excluded.max), coalesce(excluded.max, max)), last=excluded.last";

constexpr std::int64_t kDropEveryS = 60;
constexpr std::int64_t kMostClocks = 10'000;
constexpr std::int64_t kMostRunDevices = 200'000;  // rows, of all runs
// Shrinking begins above the first part of the allowed pages, and ends below the second.
constexpr std::int64_t kFullPercent = 85;
constexpr std::int64_t kRoomyPercent = 75;
constexpr std::int64_t kHalf = 50;  // after a batch that did not fit

std::int64_t as_integer(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

std::int64_t slab_end_s(std::size_t tier, std::int64_t slab) {
  return (slab + 1) * kSlabSteps * kTierTable[tier].step_s;
}

}  // namespace

bool Store::write(const KnownDevices& devices, const Tracks& tracks, const KnownRuns& runs,
                  const UpTimes& up, const ClockRecord& clocks,
                  const std::vector<BusyProgram>& busy, std::int64_t now_s) {
  if (!database_->script("BEGIN IMMEDIATE")) return false;
  const std::array<std::int64_t, kTiers> kept = kept_from_s_;
  if (drop_old(up.believed_s(now_s)) && shrink(now_s) && put_names(devices, tracks, runs) &&
      put_rows(tracks) && put_up(up) && put_clocks(clocks) && put_busy(busy) &&
      database_->script("COMMIT")) {
    over_limit_ = false;
    return true;
  }
  // Is it the disk that is full, or what we allow ourselves?
  over_limit_ =
      database_->is_full() && database_->number("PRAGMA page_count").value_or(0) >= max_pages_;
  database_->roll_back();
  kept_from_s_ = kept;
  dropped_s_ = 0;
  return false;
}

bool Store::put_rows(const Tracks& tracks) {
  static const std::string kPutRow =
      "INSERT INTO points VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) " + std::string(kMergeRow);
  return std::all_of(tracks.rows().begin(), tracks.rows().end(), [&](const auto& each) {
    const auto& [key, row] = each;
    return database_->run(kPutRow.c_str(), {as_integer(key.tier), key.slab, as_integer(key.series),
                                            key.step, argument(row.first), argument(row.min),
                                            argument(row.max), argument(row.last)});
  });
}

bool Store::put_names(const KnownDevices& devices, const Tracks& tracks, const KnownRuns& runs) {
  bool good = true;
  for (const auto& [number, device] : devices.all()) {
    if (!device.dirty) continue;
    good = good && database_->run(
                       "INSERT OR REPLACE INTO devices VALUES(?1, ?2, ?3, ?4, ?5)",
                       {as_integer(number), as_integer(device.unique_id), std::int64_t{device.arch},
                        std::int64_t{device.mock}, std::int64_t{device.shown_id}});
  }
  for (const auto& [key, track] : tracks.all()) {
    if (!track.dirty) continue;
    // A device may come back; a process does not.
    const bool open = key.metric < device_metric_count() || track.last;
    good = good && database_->run(
                       "INSERT OR REPLACE INTO series VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                       {as_integer(track.id), metrics()[key.metric].name, as_integer(key.subject),
                        track.changed_s, argument(track.last), std::int64_t{open}});
  }
  for (const std::uint64_t id : tracks.given_up()) {
    good = good && database_->run("UPDATE series SET open=0 WHERE id=?1", {as_integer(id)});
  }
  for (const auto& [identity, known] : runs.all()) {
    if (!known.dirty) continue;
    const Run& run = known.run;
    good = good && database_->run(
                       "INSERT OR REPLACE INTO runs VALUES"
                       "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                       {as_integer(run.id), run.boot_id, std::int64_t{run.pid},
                        as_integer(run.start), known.segment, run.name, run.user,
                        std::int64_t{run.uid}, as_integer(run.started), as_integer(run.first_seen),
                        as_integer(run.ended_at), run.ended, as_integer(run.failures)});
    for (const auto& [number, device] : known.devices) {
      const auto peak = [&](ledger::Space space) {
        return argument(device.peaks[static_cast<std::size_t>(space)]);
      };
      good = good &&
             database_->run("INSERT OR REPLACE INTO run_devices VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                            {as_integer(run.id), as_integer(number), peak(ledger::Space::kDram),
                             peak(ledger::Space::kL1), peak(ledger::Space::kL1Small),
                             peak(ledger::Space::kTrace), argument(device.peak_program_l1)});
    }
  }
  return good;
}

bool Store::put_up(const UpTimes& up) {
  if (up.all().empty()) return true;
  const auto put = [&](const auto& each) {
    return database_->run("INSERT OR REPLACE INTO up VALUES(?1, ?2)", {each.first, each.second});
  };
  const bool good = up_moved_ ? std::ranges::all_of(up.all(), put) : put(*up.all().rbegin());
  if (good) up_moved_ = false;
  return good && database_->run("DELETE FROM up WHERE from_s < ?1", {up.all().begin()->first});
}

bool Store::put_clocks(const ClockRecord& clocks) {
  const auto put = [&](const Stretch& each) {
    return database_->run("INSERT OR REPLACE INTO clocks VALUES(?1, ?2, ?3, ?4, ?5)",
                          {as_integer(each.number), each.boot_id, as_integer(each.steady),
                           as_integer(each.time), as_integer(each.wall)});
  };
  return clocks.unwritten().empty() ||
         (std::ranges::all_of(clocks.unwritten(), put) &&
          database_->run("DELETE FROM clocks WHERE number <= ?1 - ?2",
                         {as_integer(clocks.unwritten().back().number), kMostClocks}));
}

bool Store::put_busy(const std::vector<BusyProgram>& busy) {
  return std::ranges::all_of(busy, [&](const BusyProgram& each) {
    return database_->run(
        "INSERT OR REPLACE INTO programs VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        {each.minute_s, as_integer(each.unique_id), each.name, std::int64_t{each.pid}, each.process,
         as_integer(each.launches), as_integer(each.replays)});
  });
}

bool Store::drop_old(std::int64_t now_s) {
  if (now_s >= dropped_s_ && now_s < dropped_s_ + kDropEveryS) return true;
  dropped_s_ = now_s;
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    const auto& [step_s, keep_s] = kTierTable[tier];
    const std::int64_t slab = (now_s - keep_s) / step_s / kSlabSteps - 1;
    if (slab > 0 && !drop_until(tier, slab)) return false;
  }
  return drop_old_names(now_s);
}

// Drops the slabs up to and with this one.
bool Store::drop_until(std::size_t tier, std::int64_t slab) {
  const auto number = static_cast<std::int64_t>(tier);
  kept_from_s_[tier] = std::max(kept_from_s_[tier], slab_end_s(tier, slab));
  return database_->run("DELETE FROM points WHERE tier=?1 AND slab<=?2", {number, slab}) &&
         database_->run("INSERT OR REPLACE INTO tiers VALUES(?1, ?2)",
                        {number, kept_from_s_[tier]});
}

bool Store::drop_old_names(std::int64_t now_s) {
  const std::int64_t oldest_s = now_s - kTierTable.back().keep_s;
  const auto most_series = static_cast<std::int64_t>(limits_.old_series);
  const auto most_runs = static_cast<std::int64_t>(limits_.runs);
  return database_->run("DELETE FROM series WHERE NOT open AND changed_s < ?1", {oldest_s}) &&
         database_->run(
             "DELETE FROM series WHERE NOT open AND id <= (SELECT id FROM series "
             "WHERE NOT open ORDER BY id DESC LIMIT 1 OFFSET ?1)",
             {most_series}) &&
         database_->run("DELETE FROM runs WHERE ended<>'' AND ended_at < ?1",
                        {(now_s - kRunsKeepS) * static_cast<std::int64_t>(kSecondNs)}) &&
         database_->run(
             "DELETE FROM runs WHERE ended<>'' AND id <= (SELECT id FROM runs "
             "ORDER BY id DESC LIMIT 1 OFFSET ?1)",
             {most_runs}) &&
         database_->run("DELETE FROM run_devices WHERE run < (SELECT min(id) FROM runs)") &&
         database_->run(
             "DELETE FROM run_devices WHERE run <= (SELECT run FROM run_devices "
             "ORDER BY run DESC LIMIT 1 OFFSET ?1)",
             {kMostRunDevices}) &&
         database_->run(
             "DELETE FROM devices WHERE number <= (SELECT number FROM devices ORDER BY number DESC "
             "LIMIT 1 OFFSET ?1) AND number NOT IN (SELECT subject FROM series WHERE open)",
             {static_cast<std::int64_t>(limits_.series)}) &&
         database_->run("DELETE FROM programs WHERE minute_s < ?1", {now_s - kBusyKeepS}) &&
         database_->run(
             "DELETE FROM programs WHERE minute_s <= (SELECT minute_s FROM programs "
             "ORDER BY minute_s DESC LIMIT 1 OFFSET ?1)",
             {static_cast<std::int64_t>(limits_.busy_programs)}) &&
         database_->run("DELETE FROM up WHERE to_s < ?1", {oldest_s});
}

std::int64_t Store::used_pages() {
  return database_->number("PRAGMA page_count").value_or(0) -
         database_->number("PRAGMA freelist_count").value_or(0);
}

// Every tier loses the oldest tenth of what it has, as often as it takes.
bool Store::shrink(std::int64_t now_s) {
  if (!over_limit_ && used_pages() * 100 < max_pages_ * kFullPercent) return true;
  const std::int64_t enough = max_pages_ * (over_limit_ ? kHalf : kRoomyPercent);
  for (int round = 0; round < 100 && used_pages() * 100 > enough; ++round) {
    for (std::size_t tier = 0; tier < kTiers; ++tier) {
      const auto oldest = database_->number("SELECT min(slab) FROM points WHERE tier=?1",
                                            {static_cast<std::int64_t>(tier)});
      if (!oldest) continue;
      const std::int64_t first = std::max<std::int64_t>(*oldest, 0);
      const std::int64_t newest = now_s / kTierTable[tier].step_s / kSlabSteps;
      if (first < newest && !drop_until(tier, first + (newest - first) / 10)) return false;
    }
  }
  return true;
}

// Rows that come to lie on others are merged with them, as if both had been written there.
bool Store::move_back(std::int64_t from_s, std::int64_t by_s) {
  // `WHERE true`: else ON would be taken for a part of a join.
  static const std::string kMoveRows =
      "INSERT INTO points SELECT tier, (step-?1)/?2, series, step-?1, first, min, max, last "
      "FROM temp.moved WHERE true ORDER BY step " +
      std::string(kMergeRow);
  constexpr auto kNs = static_cast<std::int64_t>(kSecondNs);
  bool good = database_->script("BEGIN IMMEDIATE");
  for (std::size_t tier = 0; tier < kTiers && good; ++tier) {
    const std::int64_t from = from_s / kTierTable[tier].step_s;
    const std::int64_t by = by_s / kTierTable[tier].step_s;
    const auto number = static_cast<std::int64_t>(tier);
    if (by == 0) continue;
    // Through a table of its own: a move by less than what moves would read what it wrote.
    good =
        database_->run("CREATE TEMP TABLE moved AS SELECT * FROM points WHERE tier=?1 AND step>=?2",
                       {number, from}) &&
        database_->run("DELETE FROM points WHERE tier=?1 AND step>=?2", {number, from}) &&
        database_->run(kMoveRows.c_str(), {by, kSlabSteps}) &&
        database_->run("DROP TABLE temp.moved") &&
        database_->run("UPDATE tiers SET kept_from_s=min(kept_from_s, ?2) WHERE tier=?1",
                       {number, from_s - by_s});
    kept_from_s_[tier] = std::min(kept_from_s_[tier], from_s - by_s);
  }
  good = good &&
         database_->run("UPDATE series SET changed_s=changed_s-?2 WHERE changed_s>=?1",
                        {from_s, by_s}) &&
         database_->run("UPDATE runs SET first_seen=first_seen-?2 WHERE first_seen>=?1",
                        {from_s * kNs, by_s * kNs}) &&
         database_->run("UPDATE runs SET ended_at=ended_at-?2 WHERE ended_at>=?1",
                        {from_s * kNs, by_s * kNs}) &&
         database_->run("UPDATE OR REPLACE programs SET minute_s=minute_s-?2 WHERE minute_s>=?1",
                        {from_s, by_s / 60 * 60}) &&
         database_->run("DELETE FROM up WHERE to_s>=?1", {from_s});
  up_moved_ = true;
  dropped_s_ = 0;
  good = good && database_->script("COMMIT");
  if (!good) database_->roll_back();
  return good;
}

}  // namespace ttmem::serve::history
