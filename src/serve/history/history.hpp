// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the figures were: kept in one SQLite file, across restarts, bounded in age and size.
//
//   auto opened = History::open_or_memory(path, {}, now);  // never fails; opened.notice says why
//   opened.history->record(collector.snapshot(), now);     // after a refresh that brought news
//   opened.history->tick(now);                             // once a second, news or not
//   auto answer = opened.history->query(query, now);
//
// A figure is a step function of time: only its changes are stored, in three resolutions
// (query.hpp). While the daemon was up, a time without a row is "unchanged"; while it was down, it
// is null. The largest value of a row is exact for a device that one process uses, however short
// the peak was: it comes from the peak counters that the writers keep, not from looking often.
//
// What changes goes to the tracks and runs in memory, and from there in batches to the store.
// Answers are read from the store, with what still waits laid over it.
//
// Nothing here throws, and nothing blocks for long: a disk that is full is said in status(), rows
// wait in memory (bounded), and a later batch tries again. One thread uses one history. Times are
// wall-clock nanoseconds; the steady clock of the boot stands beside them (clocks.hpp). Nothing is
// erased because of a clock: one that steps back a little stands still; where it steps back by more
// than five minutes, what was written under the clock before (for a day at most) moves back with
// it; else the clock of now is not believed, and time goes on by the steady clock until it comes
// right. A leap ahead makes nothing too old before a day went by under the new clock.
// take_notice() says so.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "serve/history/clocks.hpp"
#include "serve/history/known_subjects.hpp"
#include "serve/history/query.hpp"
#include "serve/history/store.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {

struct Plan;

class History {
 public:
  struct Opened;

  // Opens or makes the file, with the folders above it. A file of ours that is broken is moved
  // aside (`<path>.broken-<seconds>`), never deleted, and a new one is begun: status().problem says
  // so until the next batch is written, and `notice` of open_or_memory for good. Fails for a file
  // that is not ours, of a newer version, locked by another daemon, or that may not be written.
  static Result<std::unique_ptr<History>> open(const std::string& path, const Limits& limits,
                                               TimeNs now);
  // As open(), but goes on in memory where that fails. An empty path: in memory.
  static Opened open_or_memory(const std::string& path, const Limits& limits, TimeNs now);

  // $XDG_STATE_HOME/ttmem/history.db, else ~/.local/state/ttmem/history.db; host-wide:
  // /var/lib/ttmem/history.db. "" where there is no home.
  static std::string default_path(bool host_wide);

  // Takes what changed; costs no system call except once per batch. The snapshot may be the same as
  // before.
  void record(const ledger::Snapshot& snapshot, const Clocks& clocks);
  // Takes the most launched programs of a minute; those of a minute come once.
  void record(std::vector<BusyProgram> busy);
  // Writes what is due. Does nothing, and costs nothing, most of the time.
  void tick(const Clocks& clocks);
  // Writes everything and notes that the daemon is going down. The destructor does not.
  void close(const Clocks& clocks);

  Result<Answer> query(const Query& query, TimeNs now);
  Result<std::vector<Run>> runs(const RunQuery& query, TimeNs now);
  Result<std::vector<BusyProgram>> busy_programs(const BusyQuery& query);
  Status status() const;
  // What happened since the last call that its owner should know: the clock jumped, the disk is
  // full, or takes rows again. "" = nothing.
  std::string take_notice();

 private:
  using OpenResult = std::variant<std::unique_ptr<History>, Store::Refusal>;
  static OpenResult open_file(const std::string& path, const Limits& limits);

  History(std::string path, const Limits& limits, std::unique_ptr<Store> store)
      : path_(std::move(path)), limits_(limits), store_(std::move(store)), tracks_(limits.series) {}
  TimeNs settle_clock(const Clocks& now);
  void step_back(TimeNs wall, TimeNs latest);
  bool move_back(std::int64_t now_s, std::int64_t by_s);
  void note(const std::string& sentence);
  bool be_here(std::int64_t now_s);
  void write_if_due(std::int64_t now_s);
  void write(std::int64_t now_s);
  void cope(std::int64_t now_s);
  void begin_anew(std::int64_t now_s);
  std::vector<StoredSeries> series_for(const Query& query, std::size_t metric);
  std::vector<std::uint64_t> runs_of(const ledger::ProcessSelector& process);
  bool wants_device(const Query& query, std::uint64_t number) const;
  // The file has unique ids alone: an id is one of the latest snapshot.
  std::optional<Error> name_for_good(std::optional<ledger::DeviceSelector>& device) const;
  Series name(const StoredSeries& series, bool of_device);
  bool read(const Plan& plan, const StoredSeries& stored, Series& series, std::int64_t now_s);
  Run to_answer(const KnownRun& known) const;
  bool has(const KnownRun& known, const RunQuery& query) const;
  std::array<std::int64_t, kTiers> kept_from_s() const;

  std::string path_;
  Limits limits_;
  std::unique_ptr<Store> store_;
  KnownDevices devices_;
  KnownRuns runs_;
  Tracks tracks_;
  Sampler sampler_;
  UpTimes up_;
  ClockRecord clocks_;
  std::vector<BusyProgram> busy_;  // that the file does not have yet

  std::string problem_;
  std::string notice_;
  TimeNs clock_ = 0;  // as recorded
  TimeNs ahead_ = 0;  // of the wall clock, which is not believed; 0: it is
  std::uint64_t jumps_ = 0;
  TimeNs sampled_ = 0;  // the last round; 0: none yet
  bool here_ = false;   // it was there a moment ago
  std::int64_t written_s_ = 0;
  std::int64_t wait_s_ = 0;  // before another try, after a failure
  std::uint64_t lost_rows_ = 0;
  std::uint64_t batches_ = 0;
};

struct History::Opened {
  std::unique_ptr<History> history;
  std::string notice;  // "" = nothing to say; else one sentence for the log
};

}  // namespace ttmem::serve::history
