// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures as they are now, and the rows that their changes make; nothing here touches a disk.
// A round takes one snapshot: begin(), observe() for every figure there is, end(). A figure that
// was there and is not observed becomes unknown.
//
// A row exists only for a step with a change. A time without one means "unchanged" while the daemon
// was there (UpTimes), and "not known" otherwise.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/figures.hpp"
#include "serve/history/query.hpp"

namespace ttmem::serve::history {

class KnownDevices;
class KnownRuns;

using Value = std::optional<std::int64_t>;

struct Row {
  Value first;  // what was last known before the step: so a reader need not look further back
  Value min, max;
  Value last;
};

inline void include(Row& row, const Value& value) {
  if (!value) return;
  row.min = std::min(row.min.value_or(*value), *value);
  row.max = std::max(row.max.value_or(*value), *value);
}

// It went that high; how low it was is not said by that.
inline void raise(Row& row, const Value& peak) {
  if (!peak) return;
  row.max = std::max(row.max.value_or(*peak), *peak);
  if (!row.min) row.min = peak;
}

// `later` was made after `row`, for the same step. The statement kPutRow of store.cpp does the
// same.
inline void merge(Row& row, const Row& later) {
  include(row, later.min);
  include(row, later.max);
  row.last = later.last;
}

// The largest multiple of `step` that is not above `value`; also below zero.
constexpr std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

class UpTimes {
 public:
  void adopt(std::int64_t from_s, std::int64_t to_s);
  // The daemon is there now. `again`: after a time when it was not.
  void extend(std::int64_t now_s, bool again);
  void shorten(std::size_t count);
  // The beginning of the first time that ends after this moment; nothing if none does.
  std::optional<std::int64_t> first_ending_after(std::int64_t now_s) const;
  // Everything from there on was so much earlier.
  void move_back(std::int64_t from_s, std::int64_t by_s);
  // How long it was there from this moment on.
  std::int64_t seconds_from(std::int64_t from_s) const;
  // What time it is for one who believes a leap of more than a day only after a day under that
  // clock: by this, what is too old is dropped.
  std::int64_t believed_s(std::int64_t now_s) const;

  // Was it there at some moment of [from, to)?
  bool touches(std::int64_t from_s, std::int64_t to_s) const;
  std::int64_t last_s() const { return times_.empty() ? 0 : times_.rbegin()->second; }
  const std::map<std::int64_t, std::int64_t>& all() const { return times_; }

 private:
  std::map<std::int64_t, std::int64_t> times_;  // from -> to
};

// A figure of one device or one process: the number of its metric, and of the device or run.
struct SeriesKey {
  std::size_t metric = 0;
  std::uint64_t subject = 0;
  friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
};

// The order of the file: rows of a slab lie together.
struct RowKey {
  std::size_t tier = 0;
  std::int64_t slab = 0;
  std::uint64_t series = 0;
  std::int64_t step = 0;  // number of the step: seconds / step_s
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

struct Track {
  std::uint64_t id = 0;  // number of the series in the file
  Value last;
  std::int64_t changed_s = 0;
  bool dirty = false;  // the file does not know it as it is
  std::uint64_t round = 0;
};

class Tracks {
 public:
  // The number that a series had which the file knows and nobody follows here.
  using Lookup = std::function<std::optional<std::uint64_t>(const SeriesKey&)>;

  explicit Tracks(std::size_t limit) : limit_(limit) {}
  void set_lookup(Lookup lookup) { lookup_ = std::move(lookup); }

  // As the file says.
  void adopt(const SeriesKey& key, std::uint64_t id, const Value& last, std::int64_t changed_s);
  void set_next_id(std::uint64_t id) { next_id_ = id; }

  // `continuous`: the last round was seen by this daemon, so that what was known until now held.
  void begin(std::int64_t now_s, bool continuous);
  // `peak`: how high the figure certainly went since the last round.
  void observe(const SeriesKey& key, const Value& value, const Value& peak);
  void keep(const SeriesKey& key);  // observes what it was
  void end();

  const Track* find(const SeriesKey& key) const;
  const std::map<SeriesKey, Track>& all() const { return tracks_; }
  const std::map<RowKey, Row>& rows() const { return rows_; }
  // As in the store: rows of one series in [from, to) steps, and what it was before its next row.
  void rows(std::size_t tier, std::uint64_t series, std::int64_t from, std::int64_t to,
            const std::function<void(std::int64_t step, const Row&)>& visit) const;
  std::optional<Value> before(std::size_t tier, std::uint64_t series, std::int64_t step,
                              std::int64_t last_step) const;
  std::uint64_t refused() const { return refused_; }  // in the last round, beyond the limit
  // Series that gave their place to others since the last batch.
  const std::vector<std::uint64_t>& given_up() const { return given_up_; }

  // After a batch: all is in the file. Processes that ended are forgotten here.
  void written(std::size_t first_process_metric);
  // For a new file.
  void mark_all_dirty();
  // Drops the oldest of the finest rows beyond `count`; says how many.
  std::size_t shorten(std::size_t count);
  // Rows from there on were so much earlier; what the figures are now is not known any more.
  void move_back(std::int64_t from_s, std::int64_t by_s);

 private:
  void put(Track& track, const Value& value, const Value& peak);
  bool make_room();

  std::size_t limit_;
  Lookup lookup_;
  std::vector<std::uint64_t> given_up_;
  std::uint64_t next_id_ = 1;
  std::uint64_t round_ = 0;
  std::uint64_t refused_ = 0;
  std::int64_t now_s_ = 0;
  bool continuous_ = false;
  std::map<SeriesKey, Track> tracks_;
  std::map<RowKey, Row> rows_;
};

// Takes the figures of a snapshot to the tracks: the sums that the snapshot has, the peaks that the
// processes counted, and the rate of launches, which nobody counts but the time between two looks.
class Sampler {
 public:
  // `runs` has seen the snapshot already; `tracks` is within a round.
  void sample(const ledger::Snapshot& snapshot, const KnownDevices& devices, const KnownRuns& runs,
              TimeNs now, Tracks& tracks);
  // Also called when no snapshot comes: who launches nothing any more has the rate 0.
  void settle_rates(TimeNs now, Tracks& tracks);
  bool rates_pending() const;
  // After a time when nobody looked.
  void forget_rates() { rates_.clear(); }

 private:
  struct Rate {
    std::int64_t launches = 0;  // since `since`
    TimeNs since = 0;
    std::int64_t last = 0;
  };
  void take_launches(const ledger::Snapshot& snapshot, const KnownDevices& devices,
                     const KnownRuns& runs, TimeNs now);

  std::map<SeriesKey, Rate> rates_;  // of devices and processes
};

// ---- which figures have a history, and what they are in a snapshot ------------------------------

// The table of figures says which (ledger/figure_table.hpp); a few more are added in sampler.cpp.
// Metrics are numbered in the order of metrics(): those of devices first.
std::size_t device_metric_count();
std::optional<std::size_t> metric_number(std::string_view name);
// The space whose peak counter is the peak of this metric.
std::optional<ledger::Space> peak_of(std::size_t metric);

// What the metrics of a device are now, by number. Empty: not known, or worked out by the sampler.
// Those of processes follow, from device_metric_count() on.
std::vector<Value> device_values(const ledger::DeviceFigures& figures);
void add_sensors(const ledger::DeviceView& device, std::vector<Value>& values);
inline constexpr std::string_view kProcessesMetric = "processes";
inline constexpr std::string_view kDispatchesMetric = "dispatches";
inline constexpr std::string_view kProcessDispatchesMetric = "process.dispatches";

Value to_value(const ledger::Figure& figure);

}  // namespace ttmem::serve::history
