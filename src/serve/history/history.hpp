// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the figures were: kept in one SQLite file, across restarts, bounded in age and size.
//
//   auto opened = History::open_or_memory(path, {}, now);   // never fails; opened.notice says why
//   opened.history->record(collector.snapshot(), now);      // after a refresh that changed
//   something opened.history->tick(now);                              // once a second, whether or
//   not auto answer = opened.history->query(query, now);
//
// A figure is a step function of time: only its changes are stored, in three resolutions
// (limits.hpp). While the daemon was up, a time without a row is "unchanged"; while it was down, it
// is null. The largest value of a row is exact for a device that one process uses, however short
// the peak was: it comes from the peak counters that the writers keep, not from looking often.
//
// Nothing here throws, and nothing blocks for long: a disk that is full is said in status(), rows
// wait in memory (bounded), and a later batch tries again. One thread uses one history. Times are
// wall-clock nanoseconds; a clock that steps back a little stands still, one that steps back by
// more than five minutes drops what was written under the wrong clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ledger/snapshot.hpp"
#include "serve/history/limits.hpp"

namespace ttmem::serve::history {

using ledger::TimeNs;
template <typename T>
using Result = Result<T>;

// ---- what can be asked --------------------------------------------------------------------------

enum class Subject : std::uint8_t { kDevice, kProcess };

struct MetricInfo {
  std::string name;  // "dram.taken"
  std::string unit;  // "bytes", "dispatches/s", "processes"
  Subject subject = Subject::kDevice;
  std::string help;  // one sentence
};

// Every metric, in a fixed order. The same for every history.
const std::vector<MetricInfo>& metrics();

struct Query {
  std::string metric;
  std::optional<std::uint64_t> unique_id;  // of one device; empty: all
  std::optional<std::uint32_t> device;     // or by its id in the latest snapshot
  std::optional<std::uint64_t> run;        // one process, as in runs()
  std::optional<std::int32_t> pid;         // or every run with this pid
  TimeNs from = 0, to = 0;                 // [from, to)
  std::int64_t step_s = 0;                 // 0: chosen
};

// What held within one step; `last` is the value at its end. Empty: not known.
struct Point {
  std::optional<std::int64_t> min, max, last;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Series {
  std::uint64_t unique_id = 0;          // of the device; 0 for a process
  std::optional<std::uint32_t> device;  // its id when it was last seen
  std::optional<std::uint64_t> run;     // of a process
  std::int32_t pid = 0;
  std::string process;
  // points[i] covers [from + i * step, from + (i + 1) * step).
  std::vector<Point> points;
};

struct Answer {
  MetricInfo metric;
  std::int64_t from_s = 0, to_s = 0;  // widened to whole steps
  std::int64_t step_s = 0;            // at least what was asked for; what is kept may be coarser
  std::vector<Series> series;
};

// Peaks of a run on one device, from the process's own counters: exact.
struct RunDevice {
  std::uint64_t unique_id = 0;
  std::uint32_t device = 0;
  ledger::Figure peak_dram, peak_l1, peak_l1_small, peak_trace, peak_program_l1;
};

// The life of a process that used a device.
struct Run {
  std::uint64_t id = 0;
  std::int32_t pid = 0;
  std::uint64_t start = 0;  // ticks since boot, as in /proc
  std::string boot_id, name, user;
  std::uint32_t uid = 0;
  TimeNs started = 0;  // 0: not known
  TimeNs first_seen = 0;
  TimeNs ended_at = 0;  // 0: still alive, or not known
  std::string
      ended;  // "" while alive; "closed", "died", "exec", "unknown": gone while nobody looked
  std::uint64_t failures = 0;
  std::vector<RunDevice> devices;
};

struct RunQuery {
  TimeNs from = 0, to = 0;  // alive at some moment of [from, to); to 0: until now
  std::optional<std::uint64_t> unique_id;
  std::optional<std::int32_t> pid;
  std::string name;                     // "": any
  std::optional<std::uint64_t> before;  // only ids below: the next page
  std::size_t limit = 100;              // at most 1,000
};

struct Status {
  std::string path;              // "" = in memory
  std::string problem;           // "" = all is well; else what is wrong and what to do
  std::uint64_t file_bytes = 0;  // as of the last batch
  std::size_t series = 0;
  std::uint64_t refused_series = 0;  // changes of series beyond the limit: not recorded
  std::uint64_t lost_rows = 0;       // dropped while the disk refused
  std::uint64_t batches = 0;         // transactions since the start
};

// ---- the history --------------------------------------------------------------------------------

class History {
 public:
  struct Opened;

  // Opens or makes the file, with the folders above it. A file of ours that is broken is moved
  // aside
  // (`<path>.broken-<seconds>`), never deleted, and a new one is begun: status().problem says so
  // until the next batch is written, and `notice` of open_or_memory for good. Fails for a file that
  // is not ours, of a newer version, locked by another daemon, or that may not be written.
  static Result<std::unique_ptr<History>> open(const std::string& path, const Limits& limits,
                                               TimeNs now);
  // As open(), but goes on in memory where that fails. An empty path: in memory.
  static Opened open_or_memory(const std::string& path, const Limits& limits, TimeNs now);

  // $XDG_STATE_HOME/ttmem/history.db, else ~/.local/state/ttmem/history.db; host-wide:
  // /var/lib/ttmem/history.db. "" where there is no home.
  static std::string default_path(bool host_wide);

  virtual ~History() = default;

  // Takes what changed; costs no system call except once a batch. The snapshot may be the same as
  // before.
  virtual void record(const ledger::Snapshot& snapshot, TimeNs now) = 0;
  // Writes what is due. Does nothing, and costs nothing, most of the time.
  virtual void tick(TimeNs now) = 0;
  // Writes everything and notes that the daemon is going down. The destructor does not.
  virtual void close(TimeNs now) = 0;

  virtual Result<Answer> query(const Query& query, TimeNs now) = 0;
  virtual Result<std::vector<Run>> runs(const RunQuery& query, TimeNs now) = 0;
  virtual Status status() const = 0;
};

struct History::Opened {
  std::unique_ptr<History> history;
  std::string notice;  // "" = nothing to say; else one sentence for the log
};

}  // namespace ttmem::serve::history
