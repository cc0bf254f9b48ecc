// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/replay.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace ttmem::collect {

namespace {

// Steps must leave room in the ring of the segment for those who follow it. They may become longer
// than asked for, as several events may have one time: who follows can read more than a step.
constexpr std::uint64_t kStepPart = 4, kFollowedPart = 2;
constexpr ledger::TimeNs kLeastStepNs = 1'000'000, kLeastStepOfFewNs = 10'000;

}  // namespace

Result<std::unique_ptr<Replay>> Replay::open(const std::string& path) {
  return of(recording::FileReader::open(path));
}

Result<std::unique_ptr<Replay>> Replay::of(Result<recording::FileReader> file) {
  if (!file) return file.error();
  auto replay = std::unique_ptr<Replay>(new Replay(std::move(*file)));
  if (!replay->sort_blocks()) {
    return Error{ErrorCode::kNotFound, replay->file_.path() + ": no process was recorded"};
  }
  replay->seek(replay->last_);
  return replay;
}

bool Replay::sort_blocks() {
  std::map<std::uint32_t, std::vector<recording::IndexEntry>> of_process;
  for (const recording::IndexEntry& block : file_.blocks()) {
    const recording::Moment& read = block.header.read;
    if (block.header.process == 0) continue;
    of_process[block.header.process].push_back(block);
    if (read.wall_ns != 0) moments_.push_back({read.tsc, read.monotonic_ns, read.wall_ns});
  }
  std::ranges::sort(moments_, {}, &Moment::wall_ns);
  for (auto& [number, blocks] : of_process) {
    const auto about =
        std::ranges::find(blocks, recording::BlockKind::kProcess, recording::kind_of);
    const auto begin =
        std::ranges::find(blocks, recording::BlockKind::kCheckpoint, recording::kind_of);
    if (about == blocks.end() || begin == blocks.end()) continue;
    const auto body = file_.body(*about);
    if (!body) continue;
    const ledger::TimeNs start = begin->header.read.wall_ns;
    if (tracks_.empty() || start < first_) first_ = start;
    tracks_.emplace_back(file_, std::move(blocks),
                         recording::record_in<recording::ProcessInfo>(*body));
  }
  if (tracks_.empty()) return false;
  taken_.resize(tracks_.size());
  last_ = moments_.back().wall_ns;
  return true;
}

// Between two moments that the recorder saw, all clocks went evenly.
Moment Replay::moment_at(ledger::TimeNs at) const {
  const auto after = std::ranges::lower_bound(moments_, at, {}, &Moment::wall_ns);
  if (after == moments_.end()) return moments_.back();
  if (after->wall_ns == at || after == moments_.begin()) return *after;
  const Moment& low = *(after - 1);
  const double part =
      static_cast<double>(at - low.wall_ns) / static_cast<double>(after->wall_ns - low.wall_ns);
  Moment moment = between(low, *after, part);
  moment.wall_ns = at;
  return moment;
}

ledger::TimeNs Replay::time_at(const ReplayTrack& track, std::uint64_t ticks) const {
  ledger::TimeNs low = first_;
  ledger::TimeNs high = last_;
  while (low < high) {
    const ledger::TimeNs middle = low + (high - low) / 2;
    if (track.ticks_at(moment_at(middle)) < ticks) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void Replay::go(ledger::TimeNs at, bool event_by_event) {
  now_ = moment_at(std::clamp(at, first_, last_));
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (tracks_[i].go(now_, event_by_event)) taken_[i].anew = true;
    // At a moment that the recorder saw, the clocks are as it read them.
    if (tracks_[i].sampled() && tracks_[i].sampled()->wall_ns == now_.wall_ns) {
      now_ = *tracks_[i].sampled();
    }
  }
}

bool Replay::step(ledger::TimeNs longest_ns, std::uint64_t most_events) {
  if (at() >= last_) return false;
  ledger::TimeNs next = longest_ns < last_ - at() ? at() + longest_ns : last_;
  bool few = false;
  for (ReplayTrack& track : tracks_) {
    if (track.image() == nullptr) {
      const auto begin =
          std::ranges::find(track.blocks(), recording::BlockKind::kCheckpoint, recording::kind_of);
      if (begin->header.read.wall_ns > at()) next = std::min(next, begin->header.read.wall_ns);
      continue;
    }
    const std::uint64_t followed = track.image()->ring_entries() / kStepPart;
    few = few || most_events < followed;
    next = std::min(next, track.time_after(std::min(most_events, followed), last_));
  }
  const ledger::TimeNs least = few ? kLeastStepOfFewNs : kLeastStepNs;
  go(std::max(next, at() + std::min(longest_ns, least)), true);
  return true;
}

ledger::TimeNs Replay::sampled_at() const {
  ledger::TimeNs earliest = at();
  for (const ReplayTrack& track : tracks_) {
    // What has ended does not change any more.
    if (track.image() == nullptr || track.ended() != ledger::Ended::kAlive) continue;
    if (track.sampled()) earliest = std::min(earliest, track.sampled()->wall_ns);
  }
  return earliest;
}

bool Replay::take_anew(std::size_t track) {
  const recording::SegmentImage* image = tracks_[track].image();
  Taken& taken = taken_[track];
  const std::uint64_t head = image == nullptr ? 0 : image->head();
  const bool anew =
      taken.anew || (image != nullptr && head > taken.head + image->ring_entries() / kFollowedPart);
  taken = {false, head};
  return anew;
}

std::vector<std::string> Replay::problems() const {
  std::vector<std::string> lines;
  std::uint64_t broken = 0;
  std::uint64_t missed = 0;
  for (const ReplayTrack& track : tracks_) {
    broken += track.broken_blocks();
    missed += track.missed();
  }
  if (file_.broken_bytes() > 0 || broken > 0) {
    lines.push_back(
        fmt::format("{}: {} bytes and {} blocks of it cannot be read: it is damaged, or "
                    "its recorder was killed",
                    file_.path(), file_.broken_bytes(), broken));
  }
  if (missed > 0) {
    lines.push_back(
        fmt::format("{}: {} events are missing, which came too fast or found the disk "
                    "full; the state after them is exact",
                    file_.path(), missed));
  }
  return lines;
}

}  // namespace ttmem::collect
