// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How much history is kept, all in one place. Whatever is reached first ends it: the age, the size
// of the file, the number of series or of runs. What goes first is always the oldest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ttmem::serve::history {

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
  std::size_t pending_rows = 100'000;  // kept in memory while the disk refuses
  std::size_t up_intervals = 10'000;   // times the daemon was up
  std::int64_t batch_s = 5;            // changes are written this often
  std::int64_t heartbeat_s = 60;       // an idle daemon says this often that it was there
  std::int64_t absent_s = 10;          // a daemon that did not tick for longer was not there
  std::int64_t clock_back_s = 300;     // a clock that steps back further was wrong before
};

}  // namespace ttmem::serve::history
