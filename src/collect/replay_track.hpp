// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One process of a recording, brought to any moment: its segment as it was then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collect/clock.hpp"
#include "ledger/snapshot.hpp"
#include "recording/file_reader.hpp"
#include "recording/segment_image.hpp"

namespace ttmem::collect {

class ReplayTrack {
 public:
  // `blocks` are those of this process, in the order of the file; `file` must outlive the track.
  ReplayTrack(const recording::FileReader& file, std::vector<recording::IndexEntry> blocks,
              recording::ProcessInfo info)
      : file_(&file), blocks_(std::move(blocks)), info_(info) {}

  // Brings it to the state of that moment, event by event if they are wanted. True if its segment
  // was made anew, and has to be opened again: at first, on the way back, and after a leap.
  bool go(const Moment& now, bool event_by_event);
  // Is told of each event before it is applied, with the ticks at which it happened.
  using Watch = std::function<void(const recording::SegmentImage& image,
                                   const recording::SlotRecord& event, std::uint64_t ticks)>;
  void watch(Watch watch) { watch_ = std::move(watch); }
  // The time until which at most so many more events happen; `last` if there are no more.
  ledger::TimeNs time_after(std::uint64_t events, ledger::TimeNs last);
  // The moment of the last sample that was applied: everything is as it was then.
  const std::optional<Moment>& sampled() const { return sampled_; }

  // From the clocks of a moment to those of this process; 0 before its recording begins.
  std::uint64_t ticks_at(const Moment& now) const;

  // Null before the recording of this process begins.
  const recording::SegmentImage* image() const { return image_ ? &*image_ : nullptr; }
  const recording::ProcessInfo& info() const { return info_; }
  ledger::Ended ended() const { return ended_; }
  ledger::TimeNs ended_at() const { return ended_at_; }
  // Events that are not in the recording, up to here; blocks that cannot be read, ever.
  std::uint64_t missed() const { return missed_; }
  std::uint64_t broken_blocks() const { return broken_; }
  const std::vector<recording::IndexEntry>& blocks() const { return blocks_; }

 private:
  // Where in the blocks it stands. Of a block of events, some may be applied already.
  struct Place {
    std::size_t block = 0, event = 0, sample = 0;
  };
  struct State {
    recording::Bytes patches;
    std::vector<recording::SlotRecord> slots;
  };
  bool is_back(const Moment& now) const;
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t checkpoint_before(ledger::TimeNs wall_ns) const;
  bool is_whole(std::size_t checkpoint) const;
  bool leap(std::size_t checkpoint);
  std::optional<State> read_checkpoint(std::size_t checkpoint) const;
  void play(const Moment& now);
  bool play_events(const Moment& now);
  bool play_checkpoint(const Moment& now);
  bool play_end(const Moment& now);
  bool play_samples(const Moment& now, bool before_an_event);
  void find_ticks();
  recording::EventsBody* body();
  void next_block() { at_ = {at_.block + 1, 0, 0}; }

  const recording::FileReader* file_;
  std::vector<recording::IndexEntry> blocks_;
  recording::ProcessInfo info_;
  std::optional<recording::SegmentImage> image_;
  Place at_;
  std::size_t body_of_ = kNone;  // the block that `body_` was read from
  std::optional<recording::EventsBody> body_;
  std::vector<std::uint64_t> ticks_;  // by event of the body: when it happened
  ledger::TimeNs went_to_ = 0;
  std::uint64_t went_beyond_ = 0;  // ticks, of what a sample saw that says it came later
  std::optional<Moment> sampled_;
  ledger::Ended ended_ = ledger::Ended::kAlive;
  ledger::TimeNs ended_at_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t broken_ = 0;
  Watch watch_;
};

}  // namespace ttmem::collect
