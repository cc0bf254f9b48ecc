// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/tracks.hpp"

#include <algorithm>
#include <iterator>

#include "base/assert.hpp"

namespace ttmem::serve::history {

void UpTimes::adopt(std::int64_t from_s, std::int64_t to_s) {
  if (from_s <= to_s) times_[from_s] = to_s;
}

void UpTimes::extend(std::int64_t now_s, bool again) {
  // A gap of less than a second cannot be told.
  if (times_.empty() || (again && now_s > last_s() + 1)) {
    times_[now_s] = now_s;
  } else {
    std::int64_t& to = times_.rbegin()->second;
    to = std::max(to, now_s);
  }
}

std::optional<std::int64_t> UpTimes::first_ending_after(std::int64_t now_s) const {
  for (const auto& [from, to] : times_) {
    if (to > now_s) return from;
  }
  return std::nullopt;
}

void UpTimes::move_back(std::int64_t from_s, std::int64_t by_s) {
  std::map<std::int64_t, std::int64_t> moved;
  for (auto& [from, to] : times_) {
    const std::int64_t by = from >= from_s ? by_s : 0;
    std::int64_t& until = moved.try_emplace(from - by, to - by).first->second;
    until = std::max(until, to - by);
  }
  // Times that now lie on each other become one.
  times_.clear();
  for (const auto& [from, to] : moved) {
    if (!times_.empty() && from <= last_s() + 1) {
      times_.rbegin()->second = std::max(last_s(), to);
    } else {
      times_[from] = to;
    }
  }
}

std::int64_t UpTimes::seconds_from(std::int64_t from_s) const {
  std::int64_t sum = 0;
  for (auto each = times_.lower_bound(from_s); each != times_.end(); ++each) {
    sum += each->second - each->first;
  }
  return sum;
}

std::int64_t UpTimes::believed_s(std::int64_t now_s) const {
  std::int64_t sum = 0;
  for (auto each = times_.rbegin(); each != times_.rend(); ++each) {
    sum += each->second - each->first;
    const auto before = std::next(each);
    if (sum >= kDay || before == times_.rend()) return now_s;
    if (each->first - before->second > kDay) return std::min(now_s, before->second + sum);
  }
  return now_s;
}

void UpTimes::shorten(std::size_t count) {
  while (times_.size() > count) times_.erase(times_.begin());
}

bool UpTimes::touches(std::int64_t from_s, std::int64_t to_s) const {
  auto next = times_.lower_bound(to_s);  // the first that begins too late
  return next != times_.begin() && std::prev(next)->second >= from_s;
}

void Tracks::adopt(const SeriesKey& key, std::uint64_t id, const Value& last,
                   std::int64_t changed_s) {
  tracks_[key] = {id, last, changed_s, false, 0};
}

void Tracks::begin(std::int64_t now_s, bool continuous) {
  ++round_;
  refused_ = 0;
  now_s_ = now_s;
  continuous_ = continuous;
}

void Tracks::observe(const SeriesKey& key, const Value& value, const Value& peak) {
  TTMEM_DCHECK(round_ > 0);  // begin() came first
  auto found = tracks_.find(key);
  if (found == tracks_.end()) {
    // A figure that was never known gets no track.
    if (!value && !peak) return;
    if (tracks_.size() >= limit_ && !make_room()) {
      ++refused_;
      return;
    }
    const auto old = lookup_ ? lookup_(key) : std::nullopt;
    found = tracks_.emplace(key, Track{old ? *old : next_id_++, {}, now_s_, true, 0}).first;
  }
  Track& track = found->second;
  track.round = round_;
  // A peak between two looks that is higher than what both saw is worth a row, even if the value is
  // as it was.
  const bool higher = peak && (!value || *peak > *value) && (!track.last || *peak > *track.last);
  if (value != track.last || higher) put(track, value, peak);
}

// Those that have been unknown for the longest time make room, a part of them at once: devices that
// went away, which is what nobody may fill the history with.
bool Tracks::make_room() {
  std::vector<std::pair<std::int64_t, SeriesKey>> unknown;
  for (const auto& [key, track] : tracks_) {
    if (!track.last && !track.dirty) unknown.emplace_back(track.changed_s, key);
  }
  std::ranges::sort(unknown);
  unknown.resize(std::min(unknown.size(), limit_ / 8 + 1));
  for (const auto& [changed_s, key] : unknown) {
    const auto found = tracks_.find(key);
    given_up_.push_back(found->second.id);
    tracks_.erase(found);
  }
  return !unknown.empty();
}

void Tracks::keep(const SeriesKey& key) {
  const auto found = tracks_.find(key);
  if (found != tracks_.end()) found->second.round = round_;
}

void Tracks::end() {
  for (auto& [key, track] : tracks_) {
    // Whoever was not observed in this round is gone: from now on its value is not known.
    if (track.round != round_ && track.last) put(track, {}, {});
  }
}

const Track* Tracks::find(const SeriesKey& key) const {
  const auto found = tracks_.find(key);
  return found == tracks_.end() ? nullptr : &found->second;
}

void Tracks::rows(std::size_t tier, std::uint64_t series, std::int64_t from, std::int64_t to,
                  const std::function<void(std::int64_t step, const Row&)>& visit) const {
  for (std::int64_t slab = from / kSlabSteps; slab * kSlabSteps < to; ++slab) {
    for (auto row = rows_.lower_bound({tier, slab, series, from});
         row != rows_.lower_bound({tier, slab, series, to}); ++row) {
      visit(row->first.step, row->second);
    }
  }
}

std::optional<Value> Tracks::before(std::size_t tier, std::uint64_t series, std::int64_t step,
                                    std::int64_t last_step) const {
  for (std::int64_t slab = step / kSlabSteps; slab <= last_step / kSlabSteps; ++slab) {
    const auto row = rows_.lower_bound({tier, slab, series, step});
    if (row != rows_.end() && row->first.tier == tier && row->first.slab == slab &&
        row->first.series == series) {
      return row->second.first;
    }
  }
  return std::nullopt;
}

void Tracks::written(std::size_t first_process_metric) {
  rows_.clear();
  given_up_.clear();
  for (auto each = tracks_.begin(); each != tracks_.end();) {
    each->second.dirty = false;
    // A process that ended does not come back, so its track is of no more use; a device may.
    const bool over = each->first.metric >= first_process_metric && !each->second.last;
    each = over ? tracks_.erase(each) : std::next(each);
  }
}

void Tracks::mark_all_dirty() {
  for (auto& [key, track] : tracks_) track.dirty = true;
}

std::size_t Tracks::shorten(std::size_t count) {
  std::size_t dropped = 0;
  for (; rows_.size() > count; ++dropped) rows_.erase(rows_.begin());
  return dropped;
}

void Tracks::move_back(std::int64_t from_s, std::int64_t by_s) {
  std::map<RowKey, Row> moved;
  for (const auto& [key, row] : rows_) {
    const std::int64_t step_s = kTierTable[key.tier].step_s;
    RowKey earlier = key;
    if (key.step >= from_s / step_s) earlier.step -= by_s / step_s;
    earlier.slab = earlier.step / kSlabSteps;
    const auto [place, is_new] = moved.try_emplace(earlier, row);
    if (!is_new) merge(place->second, row);
  }
  rows_ = std::move(moved);
  for (auto& [key, track] : tracks_) {
    track.last.reset();
    if (track.changed_s >= from_s) track.changed_s -= by_s;
    track.dirty = true;
  }
}

void Tracks::put(Track& track, const Value& value, const Value& peak) {
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    const std::int64_t step = now_s_ / kTierTable[tier].step_s;
    const auto [row, is_new] = rows_.try_emplace({tier, step / kSlabSteps, track.id, step});
    if (is_new) {
      row->second.first = track.last;
      if (continuous_) include(row->second, track.last);
    }
    include(row->second, value);
    raise(row->second, peak);
    row->second.last = value;
  }
  track.last = value;
  track.changed_s = now_s_;
  track.dirty = true;
}

}  // namespace ttmem::serve::history
