// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The half that looks.
#include "record/follower.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "segment/reader_records.hpp"

namespace ttmem::record {

namespace {

using recording::Bytes;
using recording::bytes_of;
using segment::Meta;
using segment::Payload;
using segment::SectionKind;

const Error kGone{ErrorCode::kCorrupt, "it shrank or contradicts itself: no longer recorded"};

}  // namespace

Result<std::unique_ptr<Follower>> Follower::open(const collect::Found& file, std::uint32_t number,
                                                 const FollowOptions& options) {
  auto reader = segment::Reader::open(file.path, file.owner);
  if (!reader) return reader.error();
  const bool trusted = collect::speaks_for_others(file, reader->file().owner());
  return std::unique_ptr<Follower>(new Follower(std::move(*reader), trusted, number, options));
}

Follower::Follower(segment::Reader reader, bool trusted, std::uint32_t number,
                   const FollowOptions& options)
    : reader_(std::move(reader)), trusted_(trusted), number_(number), launches_(options.launches) {
  if (trusted) liveness_.trust();
  reader_.take_oldest_events_first();
  at_start_ = reader_.header().clock.monotonic_ns >= options.since_ns;
  if (at_start_) reader_.begin_at_first_event();
  needs_checkpoint_ = !at_start_;
}

std::uint64_t Follower::ring_entries() const {
  return reader_.layout().section(SectionKind::kEvents).entries;
}

std::optional<Error> Follower::look(const collect::ProcFs& procfs, const collect::Moment& now,
                                    bool exited) {
  fill_ = 0;
  if (is_done()) return std::nullopt;
  if (!has_ended()) {
    liveness_.look(procfs, reader_.header(), reader_.file(), exited, now.monotonic_ns);
  }
  if (auto error = reader_.refresh()) return error;
  const bool ended = liveness_.conclude(reader_.header()) != ledger::Ended::kAlive;
  if (!first_ && !ended && !behind_ && reader_.live() == seen_) return std::nullopt;
  const bool news = first_ || reader_.header().head != reader_.event();
  const bool sampling = first_ || ended || launches_ ||
                        reader_.header().failure_count != failures_seen_ ||
                        now.monotonic_ns >= sampled_ns_ + recording::kSampleNs;
  if (!news && !sampling) return std::nullopt;
  if (sampling) seen_ = reader_.live();

  if (!take_table(now, sampling) || reader_.refresh()) return kGone;
  // Events may refer to what was published since: it is taken after them, and holds before them.
  Bytes needed;
  if (!take_records(needed)) return kGone;
  if (!needed.empty()) add_sample(looked_at_, now, true, needed);
  if (reader_.header().failure_count != failures_seen_) take_failures(now);
  if (sampling && !behind_) take_sample(now);
  std::ranges::stable_sort(samples_, {}, &PendingSample::after);
  looked_at_ = reader_.event();
  first_ = false;
  return std::nullopt;
}

bool Follower::take_table(const collect::Moment& now, bool sampling) {
  segment::TableUpdate update;
  const std::uint64_t before = reader_.event();
  if (!reader_.update_table(*this, update, sampling)) return false;
  behind_ = reader_.event() < reader_.header().head;
  if (reader_.event() == before && !update.table_read) return true;
  if (pending_.empty()) pending_since_ns_ = now.monotonic_ns;
  fill_ = behind_
              ? 1
              : static_cast<double>(reader_.event() - before) / static_cast<double>(ring_entries());
  if (update.table_read) {
    // The slots came one by one; which event wrote each is not known, but it was one of these.
    for (segment::Slot& slot : table_) {
      if (slot.version == 0) slot.version = reader_.event() << 1;
    }
    if (!first_ || at_start_) missed_here_ += reader_.event() - before;
    at_start_ = false;
    needs_checkpoint_ = true;
    return true;
  }
  take_events(update.events);
  return true;
}

void Follower::take_events(const segment::EventRun& run) {
  pending_.reserve(pending_.size() + run.events.size());
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const segment::Event& event = run.events[i];
    pending_.push_back({run.first + i, event.slot, event.payload});
    last_ticks_ = std::max(last_ticks_, recording::ticks_of(event.payload));
    if (event.slot < table_.size()) table_[event.slot].version = (run.first + i) << 1;
  }
  since_checkpoint_ += run.events.size();
}

void Follower::on_slot(std::uint32_t index, const Payload& payload) {
  if (index >= table_.size()) table_.resize(std::max<std::size_t>(index + 1ull, table_.size() * 2));
  table_[index] = {0, payload};
  if (segment::has_live_words(payload) && Meta::live(payload.meta)) {
    words_[index] = {payload.a, payload.b, payload.time};
  } else if (!words_.empty()) {
    words_.erase(index);
  }
}

void Follower::on_launches(std::uint32_t index, const Payload& payload) {
  if (index >= table_.size()) return;
  Payload& known = table_[index].payload;
  known.a = payload.a;
  known.b = payload.b;
  known.time = payload.time;
  words_[index] = {payload.a, payload.b, payload.time};
}

// Records that are new are needed by the events of this look; those that changed are a sample.
template <typename Record>
bool Follower::take_records_of(SectionKind kind, Bytes& needed) {
  const segment::SectionPlace& place = reader_.layout().section(kind);
  std::uint32_t& told = records_told_[static_cast<std::size_t>(kind) - 1];
  std::uint32_t newest = told;
  const auto visit = [&](std::uint32_t index, const Record& record) {
    recording::add_patch(place.at(index), bytes_of(record), index > told ? needed : changed_);
    newest = std::max(newest, index);
  };
  bool read = false;
  if constexpr (std::is_same_v<Record, segment::Device>) read = reader_.update_devices(visit);
  if constexpr (std::is_same_v<Record, segment::DeviceSet>)
    read = reader_.update_device_sets(visit);
  if constexpr (std::is_same_v<Record, segment::Allocator>) read = reader_.update_allocators(visit);
  if constexpr (std::is_same_v<Record, segment::RingManager>) {
    read = reader_.update_ring_managers(visit);
  }
  told = newest;
  return read;
}

bool Follower::take_records(Bytes& needed) {
  reader_.update_blobs();
  if (!take_records_of<segment::Device>(SectionKind::kDevices, needed) ||
      !take_records_of<segment::DeviceSet>(SectionKind::kDeviceSets, needed) ||
      !take_records_of<segment::Allocator>(SectionKind::kAllocators, needed) ||
      !take_records_of<segment::RingManager>(SectionKind::kRingManagers, needed)) {
    return false;
  }
  if (needed.empty()) return true;
  const segment::Header& header = reader_.header();
  recording::add_patch(offsetof(segment::Header, device_count),
                       std::as_bytes(std::span(&header.device_count, 4)), needed);
  return true;
}

void Follower::add_sample(std::uint64_t after, const collect::Moment& now, bool needed,
                          const Bytes& patches) {
  recording::SampleHead head{};
  head.after = after;
  head.read = {now.tsc, now.monotonic_ns, now.wall_ns};
  head.bytes = static_cast<std::uint32_t>(patches.size());
  head.flags = needed ? recording::kNeeded : 0;
  PendingSample sample{after, {}};
  recording::append(sample.bytes, bytes_of(head));
  recording::append(sample.bytes, patches);
  samples_.push_back(std::move(sample));
  if (needed) recording::append(sampled_image_, patches);
  if (pending_.empty() && samples_.size() == 1) pending_since_ns_ = now.monotonic_ns;
}

void Follower::take_failures(const collect::Moment& now) {
  const segment::Header& header = reader_.header();
  const std::uint64_t count = header.failure_count;
  for (std::uint64_t next = segment::next_failure(failures_seen_, count); next <= count;
       next = segment::next_failure(next, count)) {
    const auto number = static_cast<std::uint32_t>(next);
    const auto failure = reader_.read_failure(number);
    if (failure && behind_ && failure->event > reader_.event()) return;  // its time will come
    failures_seen_ = number;
    if (!failure) continue;
    Bytes patches;
    add_failure(*failure, patches);
    recording::add_patch(offsetof(segment::Header, failure_count), bytes_of(number), patches);
    // Told with the event that tells of it, which comes after those of its picture.
    add_sample(std::clamp(failure->event, looked_at_, reader_.event()), now, true, patches);
  }
  failures_seen_ = header.failure_count;
}

void Follower::take_sample(const collect::Moment& now) {
  Bytes patches = std::exchange(changed_, {});
  sampled_ns_ = now.monotonic_ns;
  const segment::Header header = told_header();
  recording::add_patch(0, bytes_of(header).first(offsetof(segment::Header, reserved5)), patches);
  const segment::SectionPlace& table = reader_.layout().section(SectionKind::kTable);
  for (const auto& [index, words] : words_) {
    recording::add_patch(table.at(index) + offsetof(segment::Slot, payload) + offsetof(Payload, a),
                         bytes_of(words), patches);
  }
  words_.clear();
  const auto counters = std::make_unique<segment::Counters>();
  if (reader_.read_counters(*counters)) {
    counters_.tell(reader_.layout().section(SectionKind::kCounters).offset, bytes_of(*counters),
                   patches);
  }
  take_peaks(patches);
  add_sample(reader_.event(), now, false, patches);
  if (ring_entries() > segment::kMaxEventsAtOnce) sampled_image_ = whole_image();
}

// What was held at the peaks, and the peaks of regions.
void Follower::take_peaks(Bytes& patches) {
  const segment::Layout& layout = reader_.layout();
  if (const auto peaks = reader_.read_peaks()) {
    peaks_.tell(layout.section(SectionKind::kPeaks).offset, bytes_of(*peaks), patches);
  }
  for (std::uint32_t i = 0; i < segment::kMaxWatermarks; ++i) {
    const std::uint64_t place = layout.section(SectionKind::kWatermarks).at(i);
    std::uint64_t version = 0;
    if (!reader_.file().read(place, &version, sizeof version) || version == 0) continue;
    const auto watermark = std::make_unique<segment::Watermark>();
    if (reader_.read_watermark(i, *watermark)) {
      watermarks_[i].tell(place, bytes_of(*watermark), patches);
    }
  }
}

}  // namespace ttmem::record
