// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/replay_track.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::collect {

namespace {

using recording::BlockKind;
using recording::IndexEntry;
using recording::kind_of;
using segment::Kind;
using segment::Meta;

// A look of the recorder takes no longer, unless it is held up.
constexpr ledger::TimeNs kReadNs = 50'000'000;

std::uint64_t ticks_at(const Moment& moment, const segment::Clock& clock) {
  const bool tsc = clock.kind == static_cast<std::uint32_t>(segment::ClockKind::kTsc);
  return tsc ? moment.tsc : moment.monotonic_ns;
}

Moment moment_of(const recording::Moment& read) {
  return {read.tsc, read.monotonic_ns, read.wall_ns};
}

}  // namespace

bool ReplayTrack::go(const Moment& now, bool event_by_event) {
  const bool back = is_back(now);
  went_beyond_ = 0;
  went_to_ = now.wall_ns;
  const std::size_t checkpoint = checkpoint_before(now.wall_ns);
  if (checkpoint == kNone) {
    image_.reset();
    return false;
  }
  const bool far = !event_by_event && image_ && checkpoint > at_.block &&
                   blocks_[checkpoint].header.last_event > image_->head() + image_->ring_entries();
  const bool anew = (!image_ || back || far) && leap(checkpoint);
  if (image_) play(now);
  return anew;
}

std::uint64_t ReplayTrack::ticks_at(const Moment& now) const {
  return image_ ? collect::ticks_at(now, image_->clock()) : 0;
}

bool ReplayTrack::is_back(const Moment& now) const {
  return now.wall_ns < went_to_ ||
         (now.wall_ns > went_to_ && went_beyond_ != 0 && ticks_at(now) < went_beyond_);
}

// All of its slots follow it.
bool ReplayTrack::is_whole(std::size_t checkpoint) const {
  std::uint64_t slots = 0;
  for (std::size_t i = checkpoint + 1;
       i < blocks_.size() && kind_of(blocks_[i]) == BlockKind::kSlots; ++i) {
    slots += blocks_[i].header.count;
  }
  return slots == blocks_[checkpoint].header.count;
}

// The last one that is whole. What was read after it began may have happened later: just behind it,
// the one before is nearer to the truth, unless there was a gap between.
std::size_t ReplayTrack::checkpoint_before(ledger::TimeNs wall_ns) const {
  const auto later = std::ranges::find_if(blocks_, [&](const IndexEntry& block) {
    return kind_of(block) == BlockKind::kCheckpoint && block.header.read.wall_ns > wall_ns;
  });
  std::size_t close = kNone;
  for (auto i = static_cast<std::size_t>(later - blocks_.begin()); i-- > 0;) {
    const recording::BlockHeader& header = blocks_[i].header;
    if (kind_of(blocks_[i]) != BlockKind::kCheckpoint || !is_whole(i)) continue;
    const ledger::TimeNs ago = wall_ns - header.read.wall_ns;
    if (close != kNone || ago == 0 || ago > kReadNs || header.missed > 0) return i;
    close = i;
  }
  return close;
}

std::optional<ReplayTrack::State> ReplayTrack::read_checkpoint(std::size_t checkpoint) const {
  auto patches = file_->body(blocks_[checkpoint]);
  if (!patches) return std::nullopt;
  State state{std::move(*patches), {}};
  std::vector<recording::SlotRecord> part;
  for (std::size_t i = checkpoint + 1;
       i < blocks_.size() && kind_of(blocks_[i]) == BlockKind::kSlots; ++i) {
    const auto body = file_->body(blocks_[i]);
    if (!body || !recording::unpack_columns(*body, blocks_[i].header.count, part)) {
      return std::nullopt;
    }
    state.slots.insert(state.slots.end(), part.begin(), part.end());
  }
  return state;
}

// Puts the segment together anew. Where a checkpoint cannot be read, from the one before it.
bool ReplayTrack::leap(std::size_t checkpoint) {
  image_.reset();
  for (std::size_t i = checkpoint + 1; i-- > 0;) {
    if (kind_of(blocks_[i]) != BlockKind::kCheckpoint) continue;
    const auto state = read_checkpoint(i);
    auto image = state ? recording::SegmentImage::create(state->patches)
                       : Result<recording::SegmentImage>(Error{});
    if (!image) {
      ++broken_;
      continue;
    }
    image_ = std::move(*image);
    for (const recording::SlotRecord& slot : state->slots) image_->put_slot(slot);
    image_->set_head(blocks_[i].header.last_event);
    for (std::size_t before = 0; before < i; ++before) {
      if (kind_of(blocks_[before]) != BlockKind::kBlobs) continue;
      if (const auto body = file_->body(blocks_[before])) image_->patch(*body);
    }
    at_ = {i + 1, 0, 0};
    sampled_ = moment_of(blocks_[i].header.read);
    ended_ = ledger::Ended::kAlive;
    ended_at_ = 0;
    missed_ = 0;
    for (std::size_t before = 0; before <= i; ++before) missed_ += blocks_[before].header.missed;
    return true;
  }
  return false;
}

void ReplayTrack::play(const Moment& now) {
  while (at_.block < blocks_.size()) {
    const IndexEntry& block = blocks_[at_.block];
    switch (kind_of(block)) {
      case BlockKind::kBlobs:  // early is early enough: nobody refers to them yet
        if (const auto patches = file_->body(block)) image_->patch(*patches);
        break;
      case BlockKind::kCheckpoint:
        if (!play_checkpoint(now)) return;
        break;
      case BlockKind::kEvents:
        if (!play_events(now)) return;
        break;
      case BlockKind::kEnd:
        if (!play_end(now)) return;
        break;
      default:
        break;
    }
    next_block();
  }
}

// True: it lies behind. Who has come here event by event needs it only after a gap.
bool ReplayTrack::play_checkpoint(const Moment& now) {
  const recording::BlockHeader& header = blocks_[at_.block].header;
  if (header.last_event == image_->head()) return true;
  if (header.read.wall_ns > now.wall_ns) return false;
  missed_ += header.missed;
  const auto state = read_checkpoint(at_.block);
  if (!state || !image_->replace(state->patches, header.last_event)) {
    ++broken_;
    return true;
  }
  for (const recording::SlotRecord& slot : state->slots) image_->put_slot(slot);
  sampled_ = moment_of(header.read);
  return true;
}

bool ReplayTrack::play_end(const Moment& now) {
  const auto body = file_->body(blocks_[at_.block]);
  if (!body) return true;
  const auto end = recording::record_in<recording::EndInfo>(*body);
  if (end.at_ns > now.wall_ns) return false;
  if (end.how <= static_cast<std::uint32_t>(ledger::Ended::kExec)) {
    ended_ = static_cast<ledger::Ended>(end.how);
    ended_at_ = end.at_ns;
  }
  return true;
}

recording::EventsBody* ReplayTrack::body() {
  if (body_of_ != at_.block) {
    body_of_ = at_.block;
    body_.reset();
    if (auto read = file_->events(blocks_[at_.block])) {
      body_ = std::move(*read);
      find_ticks();
    } else {
      ++broken_;
    }
  }
  return body_ ? &*body_ : nullptr;
}

// What does not say when it happened is part of what comes next and says so: the kernels and ranges
// of a program are written before it. But it had happened when a sample saw it: what comes next may
// come much later. A program that is written again says when it was made, not when that happened.
void ReplayTrack::find_ticks() {
  ticks_.assign(body_->events.size(), 0);
  std::uint64_t latest = sampled_ ? ticks_at(*sampled_) : 0;
  for (std::size_t i = 0; i < ticks_.size(); ++i) {
    const std::uint64_t own = recording::ticks_of(body_->events[i].payload);
    const std::uint64_t meta = body_->events[i].payload.meta;
    const bool again = Meta::kind(meta) == Kind::kProgram && Meta::live(meta) && own < latest;
    if (!again) ticks_[i] = own;
    latest = std::max(latest, own);
  }
  std::uint64_t next = 0;
  std::size_t samples = body_->samples.size();  // those behind hold after this event
  for (std::size_t i = ticks_.size(); i-- > 0;) {
    for (; samples > 0 && body_->samples[samples - 1].after >= body_->events[i].number; --samples) {
      const std::uint64_t seen = ticks_at(moment_of(body_->samples[samples - 1].read));
      next = next == 0 ? seen : std::min(next, seen);
    }
    if (ticks_[i] == 0) ticks_[i] = next;
    next = ticks_[i];
  }
  for (std::size_t i = 1; i < ticks_.size(); ++i) ticks_[i] = std::max(ticks_[i], ticks_[i - 1]);
}

// True: all of the block lies behind.
bool ReplayTrack::play_events(const Moment& now) {
  recording::EventsBody* block = body();
  if (block == nullptr) return true;
  const std::uint64_t until = ticks_at(now);
  // At the moment of a sample, the state is the one that it saw, although reading takes a while.
  std::uint64_t seen = 0;
  for (const recording::Sample& sample : block->samples) {
    if (!sample.needed && sample.read.wall_ns == now.wall_ns) seen = std::max(seen, sample.after);
  }
  for (; at_.event < block->events.size(); ++at_.event) {
    const recording::SlotRecord& event = block->events[at_.event];
    if (event.number <= image_->head()) continue;  // a checkpoint has it already
    // What was read before it happened, and is still to come, is a sign that it comes later still.
    const bool happened = event.number <= seen || ticks_[at_.event] <= until;
    if (!play_samples(now, happened)) return false;
    if (event.number != image_->head() + 1) return true;  // lost: until the next checkpoint
    // Nor did anything happen before the sample that did not see it.
    if (!happened || (sampled_ && sampled_->wall_ns >= now.wall_ns && event.number > seen)) {
      return false;
    }
    if (ticks_[at_.event] > until) went_beyond_ = ticks_[at_.event];
    if (watch_) watch_(*image_, event, ticks_[at_.event]);
    if (!image_->apply(event)) return true;
  }
  play_samples(now, false);
  return at_.sample == block->samples.size();
}

// Those that hold after the event that was applied last. False: one of them is still to come.
bool ReplayTrack::play_samples(const Moment& now, bool before_an_event) {
  for (; at_.sample < body_->samples.size(); ++at_.sample) {
    const recording::Sample& sample = body_->samples[at_.sample];
    if (sample.after > image_->head()) return true;
    const bool due = sample.read.wall_ns <= now.wall_ns || (sample.needed && before_an_event);
    if (!due) return sample.needed;
    image_->patch(sample.patches);
    if (!sample.needed) sampled_ = moment_of(sample.read);
  }
  return true;
}

ledger::TimeNs ReplayTrack::time_after(std::uint64_t events, ledger::TimeNs last) {
  for (std::size_t i = at_.block; i < blocks_.size(); ++i) {
    const recording::BlockHeader& header = blocks_[i].header;
    if (kind_of(blocks_[i]) != BlockKind::kEvents || header.count == 0) continue;
    if (i != at_.block) return std::min<ledger::TimeNs>(header.first_ns, last);
    const recording::EventsBody* block = body();
    if (block == nullptr) continue;
    if (block->events.size() - at_.event <= events) continue;
    const TickClock clock(image_->clock(), moment_of(header.read), true);
    return std::min(clock.wall(ticks_[at_.event + events - 1]), last);
  }
  return last;
}

}  // namespace ttmem::collect
