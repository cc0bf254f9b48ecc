// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A recording, opened at a moment. What a collector shows of it is what a collector showed then:
//
//   auto collector = Collector::open_recording("night.ttm", options);
//   collector->replay()->seek(time);
//   collector->refresh();
//
// Everything that events carry is exact at each event. The rest (launches, rings, peaks, geometry)
// is as it was at the sample before: sampled_at() tells when that was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collect/clock.hpp"
#include "collect/replay_track.hpp"
#include "ledger/snapshot.hpp"
#include "recording/file_reader.hpp"

namespace ttmem::collect {

class Replay {
 public:
  static Result<std::unique_ptr<Replay>> open(const std::string& path);
  // The same recording, for a reader that stands at other moments. The file is not opened by its
  // name again: that may be another one by now.
  Result<std::unique_ptr<Replay>> again() const { return of(file_.again()); }

  // When the recording begins and ends, and the moment that it stands at, which is the end when it
  // was just opened.
  ledger::TimeNs first() const { return first_; }
  ledger::TimeNs last() const { return last_; }
  ledger::TimeNs at() const { return now_.wall_ns; }
  // The earliest of the last samples of the living: what no event carries is at least as new.
  ledger::TimeNs sampled_at() const;

  // The first moment at which what happened at these ticks of a track is there: whoever goes to it
  // sees that, and nothing that came later.
  ledger::TimeNs time_at(const ReplayTrack& track, std::uint64_t ticks) const;

  // Goes to a moment, within first and last.
  void seek(ledger::TimeNs at) { go(at, false); }
  // Goes on, by no more than what a reader of events can follow, nor than so many events of each
  // process that happened more than some microseconds apart. False: it is at the end.
  bool step(ledger::TimeNs longest_ns = ~ledger::TimeNs{0},
            std::uint64_t most_events = ~std::uint64_t{0});

  const Moment& now() const { return now_; }
  const recording::FileInfo& info() const { return file_.info(); }
  const recording::FileReader& file() const { return file_; }
  std::vector<ReplayTrack>& tracks() { return tracks_; }
  const std::vector<ReplayTrack>& tracks() const { return tracks_; }
  // Whether the segment of a track is another one than at the last call, or has gone on by more
  // than its ring holds: whoever reads it starts again.
  bool take_anew(std::size_t track);
  // What cannot be shown, in words.
  std::vector<std::string> problems() const;

 private:
  static Result<std::unique_ptr<Replay>> of(Result<recording::FileReader> file);
  explicit Replay(recording::FileReader file) : file_(std::move(file)) {}
  bool sort_blocks();
  void go(ledger::TimeNs at, bool event_by_event);
  Moment moment_at(ledger::TimeNs at) const;

  recording::FileReader file_;
  std::vector<ReplayTrack> tracks_;
  struct Taken {
    bool anew = false;
    std::uint64_t head = 0;  // when it was last asked for
  };
  std::vector<Taken> taken_;     // by track
  std::vector<Moment> moments_;  // by time
  ledger::TimeNs first_ = 0, last_ = 0;
  Moment now_;
};

}  // namespace ttmem::collect
