// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures as they are now, and the rows that their changes make; nothing here touches a disk.
// A round takes one snapshot: begin(), observe() for every figure there is, end(). A figure that
// was there and is not observed becomes unknown.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "serve/history/limits.hpp"
#include "serve/history/row.hpp"

namespace ttmem::serve::history {

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
  explicit Tracks(std::size_t limit) : limit_(limit) {}

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

  // After a batch: all is in the file. Processes that ended are forgotten here.
  void written(std::size_t first_process_metric);
  // For a new file.
  void mark_all_dirty();
  // Drops the oldest of the finest rows beyond `count`; says how many.
  std::size_t shorten(std::size_t count);
  // Drops rows later than this; what the figures were until then is not known any more.
  void forget_after(std::int64_t now_s);

 private:
  void put(Track& track, const Value& value, const Value& peak);

  std::size_t limit_;
  std::uint64_t next_id_ = 1;
  std::uint64_t round_ = 0;
  std::uint64_t refused_ = 0;
  std::int64_t now_s_ = 0;
  bool continuous_ = false;
  std::map<SeriesKey, Track> tracks_;
  std::map<RowKey, Row> rows_;
};

}  // namespace ttmem::serve::history
