// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// When the most was held: one pass over all events of a recording, which needs no ledger.
#include <algorithm>
#include <cstring>
#include <vector>

#include "collect/replay.hpp"

namespace ttmem::collect {

namespace {

using segment::Meta;

// What a slot takes of each device of its set: block x banks, if it is a live buffer.
std::uint64_t taken_by(const recording::SegmentImage& image, const segment::Payload& payload) {
  if (!Meta::live(payload.meta) || Meta::kind(payload.meta) != segment::Kind::kBuffer) return 0;
  return Meta::block(payload.meta) * image.banks(payload.allocator, Meta::space(payload.meta));
}

std::uint64_t taken_in(const recording::SegmentImage& image) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < image.slots(); ++i) sum += taken_by(image, image.slot(i));
  return sum;
}

struct Highest {
  std::uint64_t bytes = 0;
  ledger::TimeNs time = 0;
  void see(std::uint64_t sum, ledger::TimeNs at) {
    if (sum > bytes) *this = {sum, at};
  }
};

}  // namespace

Result<ledger::TimeNs> find_peak(const std::string& path) {
  auto opened = Replay::open(path);
  if (!opened) return opened.error();
  Replay& replay = **opened;
  replay.seek(replay.first());
  std::vector<std::uint64_t> sums(replay.tracks().size());
  std::uint64_t total = 0;
  Highest highest{0, replay.first()};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    replay.tracks()[i].watch([&, i](const recording::SegmentImage& image,
                                    const recording::SlotRecord& event, ledger::TimeNs time) {
      if (event.slot == segment::kNoSlot) return;
      const std::uint64_t before =
          event.slot < image.slots() ? taken_by(image, image.slot(event.slot)) : 0;
      total += taken_by(image, event.payload) - before;
      highest.see(total, time);
    });
  }
  do {
    // Summed up again: a checkpoint after a gap changes all at once.
    total = 0;
    for (ReplayTrack& track : replay.tracks()) {
      if (track.image() != nullptr && track.ended() == ledger::Ended::kAlive) {
        total += taken_in(*track.image());
      }
    }
    highest.see(total, replay.at());
  } while (replay.step());
  return highest.time;
}

}  // namespace ttmem::collect
