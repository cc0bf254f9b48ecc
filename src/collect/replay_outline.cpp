// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/replay_outline.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ttmem::collect {

namespace {

using segment::Meta;
using Bytes = Outline::Bytes;

constexpr std::size_t kSpacesAndAll = ledger::kSpaces + 1;

// One buffer came or went, or one failure happened.
struct Change {
  ledger::TimeNs about = 0;  // as its own process converts ticks: some hundred ns beside another's
  std::size_t track = 0;
  std::uint64_t ticks = 0;
  unsigned space = 0;
  std::uint64_t added = 0;  // modulo 2^64
};

class Outliner {
 public:
  Outliner(Replay& replay, std::size_t parts) : replay_(replay), of_track_(replay.tracks().size()) {
    outline_.first = replay.first();
    outline_.last = replay.last();
    outline_.parts.resize(parts);
    replay_.seek(replay_.first());
    for (std::size_t i = 0; i < of_track_.size(); ++i) {
      replay_.tracks()[i].watch([this, i](const recording::SegmentImage& image,
                                          const recording::SlotRecord& event,
                                          std::uint64_t ticks) { see(i, image, event, ticks); });
    }
    settle();
  }

  bool step() {
    if (!replay_.step()) return false;
    // All processes of a host read one clock, so their ticks tell who was first; only one without
    // that clock is put in by time.
    if (of_track_.size() > 1) {
      std::ranges::stable_sort(changes_, {}, has_one_clock() ? &Change::ticks : &Change::about);
    }
    for (const Change& change : changes_) take(change);
    changes_.clear();
    settle();
    return true;
  }

  double part_read() const {
    const auto length =
        static_cast<double>(std::max<ledger::TimeNs>(outline_.last - outline_.first, 1));
    return static_cast<double>(replay_.at() - outline_.first) / length;
  }

  Outline finish() {
    for (std::size_t i = 0; i < kSpacesAndAll; ++i) {
      const Highest& highest = highest_[i];
      if (highest.bytes == 0) continue;
      Mark mark;
      mark.time = highest.ticks == 0
                      ? highest.about
                      : replay_.time_at(replay_.tracks()[highest.track], highest.ticks);
      mark.bytes = highest.bytes;
      if (i < ledger::kSpaces) mark.space = static_cast<ledger::Space>(i);
      outline_.marks.push_back(mark);
    }
    std::ranges::stable_sort(outline_.marks, {}, &Mark::time);
    return std::move(outline_);
  }

 private:
  struct Highest {
    std::uint64_t bytes = 0;
    ledger::TimeNs about = 0;
    std::size_t track = 0;
    std::uint64_t ticks = 0;  // 0: there was no event, it was found so
  };
  // What a track held when all of it was last looked at, and what tells that it must be again.
  struct Known {
    Bytes bytes{};
    std::uint64_t missed = 0, broken = 0;
    bool counts = false;
  };

  void see(std::size_t track, const recording::SegmentImage& image,
           const recording::SlotRecord& event, std::uint64_t ticks) {
    if (event.slot == segment::kNoSlot) {
      if (static_cast<segment::Note>(Meta::block(event.payload.meta)) == segment::Note::kFailed) {
        Mark mark{.kind = Mark::Kind::kFailure, .pid = image.pid()};
        mark.time = replay_.time_at(replay_.tracks()[track], ticks);
        mark.number = static_cast<std::uint32_t>(event.payload.id);
        outline_.marks.push_back(mark);
      }
      return;
    }
    const segment::Payload before = image.slot(event.slot);
    change(track, ticks, before, 0 - image.taken(before));
    change(track, ticks, event.payload, image.taken(event.payload));
  }

  void change(std::size_t track, std::uint64_t ticks, const segment::Payload& of,
              std::uint64_t added) {
    if (added == 0) return;
    const TickClock clock(replay_.tracks()[track].image()->clock(), replay_.now(), true);
    changes_.push_back({clock.wall(ticks), track, ticks, Meta::space(of.meta), added});
  }

  void take(const Change& change) {
    hold_until(change.about);
    of_track_[change.track].bytes[change.space] += change.added;
    now_[change.space] += change.added;
    note(change.about, change.track, change.ticks);
  }

  // The state has changed: is it more than ever?
  void note(ledger::TimeNs about, std::size_t track, std::uint64_t ticks) {
    Bytes& part = outline_.parts[part_of(about)];
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < ledger::kSpaces; ++i) {
      part[i] = std::max(part[i], now_[i]);
      if (now_[i] > highest_[i].bytes) highest_[i] = {now_[i], about, track, ticks};
      all += now_[i];
    }
    if (all > highest_.back().bytes) highest_.back() = {all, about, track, ticks};
  }

  // What is held stays so until something changes, and was held in all parts up to there.
  void hold_until(ledger::TimeNs time) {
    const std::size_t part = part_of(time);
    while (held_in_ < part) {
      Bytes& next = outline_.parts[++held_in_];
      for (std::size_t i = 0; i < ledger::kSpaces; ++i) next[i] = std::max(next[i], now_[i]);
    }
  }

  std::size_t part_of(ledger::TimeNs time) const {
    const ledger::TimeNs length = std::max<ledger::TimeNs>(outline_.last - outline_.first, 1);
    const ledger::TimeNs since = std::clamp(time, outline_.first, outline_.last) - outline_.first;
    const double part = static_cast<double>(since) / static_cast<double>(length);
    return std::min(static_cast<std::size_t>(part * static_cast<double>(outline_.parts.size())),
                    outline_.parts.size() - 1);
  }

  // After a gap, at a start and at an end everything changes at once, without events.
  void settle() {
    hold_until(replay_.at());
    bool anew = false;
    for (std::size_t i = 0; i < of_track_.size(); ++i) {
      const ReplayTrack& track = replay_.tracks()[i];
      Known& known = of_track_[i];
      const bool counts = track.image() != nullptr && track.ended() == ledger::Ended::kAlive;
      if (counts == known.counts && track.missed() == known.missed &&
          track.broken_blocks() == known.broken) {
        continue;
      }
      known = {counts ? held_by(*track.image()) : Bytes{}, track.missed(), track.broken_blocks(),
               counts};
      anew = true;
    }
    if (anew) {
      now_ = {};
      for (const Known& known : of_track_) {
        for (std::size_t i = 0; i < ledger::kSpaces; ++i) now_[i] += known.bytes[i];
      }
    }
    note(replay_.at(), 0, 0);
  }

  bool has_one_clock() const {
    std::set<std::uint32_t> kinds;
    for (const ReplayTrack& track : replay_.tracks()) {
      if (track.image() != nullptr) kinds.insert(track.image()->clock().kind);
    }
    return kinds.size() <= 1;
  }

  static Bytes held_by(const recording::SegmentImage& image) {
    Bytes bytes{};
    for (std::uint64_t i = 0; i < image.slots(); ++i) {
      const segment::Payload payload = image.slot(i);
      if (const std::uint64_t taken = image.taken(payload)) {
        bytes[Meta::space(payload.meta)] += taken;
      }
    }
    return bytes;
  }

  Replay& replay_;
  Outline outline_;
  std::vector<Known> of_track_;
  std::vector<Change> changes_;  // of one step
  Bytes now_{};
  std::array<Highest, kSpacesAndAll> highest_{};
  std::size_t held_in_ = 0;  // the last part that what is held was counted in
};

}  // namespace

Result<Outline> outline_of(const std::string& path, std::size_t parts, const GoOn& go_on) {
  const auto replay = Replay::open(path);
  return replay ? outline_of(**replay, parts, go_on) : Result<Outline>(replay.error());
}

Result<Outline> outline_of(const Replay& replay, std::size_t parts, const GoOn& go_on) {
  auto own = replay.again();
  if (!own) return own.error();
  Outliner outliner(**own, std::max<std::size_t>(parts, 1));
  while (outliner.step()) {
    if (go_on && !go_on(outliner.part_read())) return Error{ErrorCode::kSystem, "stopped"};
  }
  return outliner.finish();
}

const Mark* mark_after(const Outline& outline, ledger::TimeNs time) {
  const auto found = std::ranges::upper_bound(outline.marks, time, {}, &Mark::time);
  return found == outline.marks.end() ? nullptr : &*found;
}

const Mark* mark_before(const Outline& outline, ledger::TimeNs time) {
  const auto found = std::ranges::lower_bound(outline.marks, time, {}, &Mark::time);
  return found == outline.marks.begin() ? nullptr : &*(found - 1);
}

}  // namespace ttmem::collect
