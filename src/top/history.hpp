// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The last two minutes of every device and process, by time and not by number of samples: however
// often the source is read, a column of a sparkline is the same stretch of time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ledger/snapshot.hpp"
#include "top/frame.hpp"

namespace ttmem::top {

inline constexpr std::uint64_t kWindowNs = 120'000'000'000;
inline constexpr std::uint64_t kBucketNs = 500'000'000;
inline constexpr std::size_t kBuckets = kWindowNs / kBucketNs;
inline constexpr std::uint64_t kChartStepNs = 1'000'000'000;  // between moments of a recording

// What charts show of a snapshot, for a history to recall.
void add_moments(const ledger::Snapshot& snapshot, std::vector<PastMoment>& moments);

// One figure over the window. A value holds until the next one is seen.
class Series {
 public:
  void add(ledger::TimeNs time, std::uint64_t value);
  // The window up to the last value in `columns` equal parts, each with its largest value; empty
  // before the first value.
  std::vector<std::optional<std::uint64_t>> columns(std::size_t columns) const;
  std::uint64_t largest() const;

 private:
  std::array<std::uint64_t, kBuckets> values_{};  // by bucket number modulo kBuckets
  std::uint64_t first_ = 0, last_ = 0;            // bucket numbers; 0 = none yet
};

// How fast a counter runs, over the last one to two seconds.
class Rate {
 public:
  void add(ledger::TimeNs time, std::uint64_t count);
  double per_second() const { return per_second_; }

 private:
  ledger::TimeNs before_ = 0, mark_ = 0;
  std::uint64_t count_before_ = 0, count_mark_ = 0;
  double per_second_ = 0;
};

struct Track {
  Series dram, l1;
  Rate dispatches;
  ledger::TimeNs seen = 0;
};

class History {
 public:
  // Before the first snapshot, in the order of time. What is gone by then is forgotten.
  void recall(std::span<const PastMoment> past);
  // Of a recording: what is remembered at a moment of it.
  static History at(const RecordingView& recording);
  // `state`: Frame::state, or 0 where it is not known. While it stays the same a stretch of time is
  // looked at once, however often it is read.
  void add(const ledger::Snapshot& snapshot, std::uint64_t state = 0);
  const Track* process(ProcessId process) const;
  const Track* device(std::uint64_t unique_id) const;
  const Track& total() const { return total_; }

 private:
  std::unordered_map<ProcessId, Track> processes_;
  std::unordered_map<std::uint64_t, Track> devices_;
  Track total_;
  ledger::TimeNs time_ = 0;
  std::uint64_t state_ = 0;
};

}  // namespace ttmem::top
