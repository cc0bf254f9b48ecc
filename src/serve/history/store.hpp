// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The history file: its tables, one batch of changes in, rows out.
//
//   devices, series, runs, run_devices   what the numbers in the others mean
//   points (tier, slab, series, step)    a row for each step with a change; a slab is 128 steps,
//   and
//                                        is dropped as a whole
//   tiers                                since when a tier is complete
//   up                                   when the daemon was there
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "serve/history/database.hpp"
#include "serve/history/known_subjects.hpp"
#include "serve/history/query.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {

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

  // Fills the books from the file.
  bool load(KnownDevices& devices, Tracks& tracks, KnownRuns& runs, UpTimes& up);

  // One transaction. Also drops what is too old or too much.
  bool write(const KnownDevices& devices, const Tracks& tracks, const KnownRuns& runs,
             const UpTimes& up, std::int64_t now_s);
  // Drops what is later than `now_s`: it was written under a wrong clock.
  bool forget_after(std::int64_t now_s);

  // Rows of one series in [from, to) steps.
  bool rows(std::size_t tier, std::uint64_t series, std::int64_t from, std::int64_t to,
            const std::function<void(std::int64_t step, const Row&)>& visit);
  // What the series was before its first row at or after `step`; empty: there is none.
  std::optional<Value> before(std::size_t tier, std::uint64_t series, std::int64_t step,
                              std::int64_t last_step);
  // Series of a metric that nobody changes any more (of processes that ended), newest first.
  std::vector<StoredSeries> old_series(std::size_t metric, const std::vector<std::uint64_t>& runs);

  std::optional<KnownRun> run(const KnownRuns::Identity& identity);
  std::optional<KnownRun> run(std::uint64_t id);
  bool runs(const RunQuery& query, const std::function<void(KnownRun)>& visit);

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
  bool over_limit_ = false;  // the last batch did not fit into them
};

}  // namespace ttmem::serve::history
