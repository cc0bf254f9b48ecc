// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How much history is kept, what can be asked of it, and what it answers.
//
// Whatever is reached first ends it: the age, the size of the file, the number of series or of
// runs. What goes first is always the oldest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::serve::history {

using ledger::TimeNs;

inline constexpr TimeNs kSecondNs = 1'000'000'000;

// ---- how much is kept ---------------------------------------------------------------------------

// One resolution: a row says how a figure moved within `step_s` seconds.
struct Tier {
  std::int64_t step_s = 0;
  std::int64_t keep_s = 0;
};

inline constexpr std::int64_t kHour = 3600;
inline constexpr std::int64_t kDay = 24 * kHour;

inline constexpr std::size_t kTiers = 3;
inline constexpr std::array<Tier, kTiers> kTierTable = {{{1, kHour}, {10, kDay}, {300, 90 * kDay}}};

// Rows are dropped this many steps at a time, so that dropping is one range of the file.
inline constexpr std::int64_t kSlabSteps = 128;

// An answer has at most this many points a series, and this many in all.
inline constexpr std::int64_t kMaxPoints = 11'000;
inline constexpr std::size_t kMaxAnswerPoints = 500'000;
// And is put together from at most this many places of the file: some 50 ms.
inline constexpr std::int64_t kMaxAnswerSlabs = 20'000;
// A question that names no step gets about this many points.
inline constexpr std::int64_t kUsualPoints = 300;

inline constexpr std::int64_t kRunsKeepS = 365 * kDay;
inline constexpr std::size_t kMaxRuns = 1000;  // in one answer

struct Limits {
  std::uint64_t file_bytes = 256ull << 20;  // the database; a journal of a few MiB stands beside it
  std::size_t series = 4096;        // that change now: devices x figures + processes x figures
  std::size_t old_series = 20'000;  // of processes that ended
  std::size_t runs = 20'000;
  std::size_t busy_programs = 200'000;
  std::size_t pending_rows = 100'000;  // kept in memory while the disk refuses
  std::size_t up_intervals = 10'000;   // times the daemon was up
  std::int64_t batch_s = 5;            // changes are written this often
  std::int64_t heartbeat_s = 60;       // an idle daemon says this often that it was there
  std::int64_t absent_s = 10;          // a daemon that did not tick for longer was not there
  std::int64_t clock_back_s = 300;     // a clock that steps back further was or is wrong
};

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
  std::optional<ledger::DeviceSelector> device;  // empty: all; an id is one of the latest snapshot
  std::optional<std::uint64_t> run;              // one process, as in runs()
  std::optional<ledger::ProcessSelector> process;  // or every run that it names
  TimeNs from = 0, to = 0;                         // [from, to)
  std::int64_t step_s = 0;                         // 0: chosen
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
  std::string ended;    // "" while alive; "closed", "died", "exec"; "unknown": nobody looked
  std::uint64_t failures = 0;
  std::vector<RunDevice> devices;
};

struct RunQuery {
  TimeNs from = 0, to = 0;  // alive at some moment of [from, to); to 0: until now
  std::optional<ledger::DeviceSelector> device;
  std::optional<ledger::ProcessSelector> process;
  std::string name;                     // "": any
  std::optional<std::uint64_t> before;  // only ids below: the next page
  std::size_t limit = 100;              // at most 1,000
};

// A program that was among the most launched of a device in one minute.
struct BusyProgram {
  std::int64_t minute_s = 0;  // when the minute began
  std::uint64_t unique_id = 0;
  std::string name, process;  // "" = not known
  std::int32_t pid = 0;
  std::uint64_t launches = 0, replays = 0;  // the replays are among the launches
};
inline constexpr std::size_t kBusyOfDevice = 8;  // that are kept of each device and minute
inline constexpr std::size_t kMaxBusy = 10'000;  // in one answer
inline constexpr std::int64_t kBusyKeepS = 30 * kDay;

struct BusyQuery {
  TimeNs from = 0, to = 0;                       // [from, to)
  std::optional<ledger::DeviceSelector> device;  // empty: all; an id is one of the latest snapshot
};

struct Status {
  std::string path;              // "" = in memory
  std::string problem;           // "" = all is well; else what is wrong and what to do
  std::uint64_t file_bytes = 0;  // as of the last batch
  std::size_t series = 0;
  std::uint64_t refused_series = 0;  // changes of series beyond the limit: not recorded
  std::uint64_t lost_rows = 0;       // dropped while the disk refused
  std::uint64_t batches = 0;         // transactions since the start
  std::uint64_t clock_jumps = 0;     // since the start
};

// ---- history_json.cpp: questions as they stand in a URL, answers as JSON (docs/history.md)
// -------

// Decoded, in the order of the URL.
using Parameters = std::vector<std::pair<std::string, std::string>>;

// metric, device (id or 0x unique id), run, pid, from, to, step. A time is seconds since 1970, or
// relative to now as in "-15m"; a step is seconds or "10s", "5m", "1h", "1d". Left out: the last
// hour, in about 300 points. The error says which parameter is wrong, and what it may be.
Result<Query> parse_query(const Parameters& parameters, TimeNs now);
// device, pid, name, from, to, before, limit.
Result<RunQuery> parse_run_query(const Parameters& parameters, TimeNs now);

// device, from, to. Left out: the last hour.
Result<BusyQuery> parse_busy_query(const Parameters& parameters, TimeNs now);

// {"schema":1,"document":"history", "metric":…, "from_s":…, "step_s":…, "series":[{…,"min":[…],
// "max":[…],"last":[…]}]}: columns, because a page draws them as they are. Unknown is null.
std::string answer_json(const Answer& answer);
std::string runs_json(const std::vector<Run>& runs);
std::string busy_json(const std::vector<BusyProgram>& programs);  // "history_programs"
std::string metrics_json();                                       // document "history_metrics"

}  // namespace ttmem::serve::history
