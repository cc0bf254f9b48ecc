// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The half of a follower that writes.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collect/process_description.hpp"
#include "record/follower.hpp"

namespace ttmem::record {

namespace {

using recording::BlockHeader;
using recording::BlockKind;
using recording::Bytes;
using recording::bytes_of;
using recording::FileWriter;
using segment::Meta;
using segment::SectionKind;

constexpr std::uint32_t kMostListSlots = 16384;  // of a failure's list

template <std::size_t N>
void put_text(const std::string& text, char (&field)[N]) {
  const std::size_t bytes = std::min(text.size(), N - 1);
  std::memcpy(field, text.data(), bytes);
}

template <typename Record>
void add_records(const segment::RecordReader<Record>& records, const segment::SectionPlace& place,
                 Bytes& into) {
  for (std::uint32_t i = 1; i <= records.count(); ++i) {
    recording::add_patch(place.at(i), bytes_of(records[i]), into);
  }
}

}  // namespace

void Follower::start_file(std::uint32_t number) {
  number_ = number;
  blobs_written_ = 0;
  process_written_ = false;
  ring_written_ = false;
  needs_checkpoint_ = true;
}

BlockHeader Follower::block(BlockKind kind, const collect::Moment& now) const {
  BlockHeader header{};
  header.kind = static_cast<std::uint16_t>(kind);
  header.process = number_;
  header.last_event = reader_.event();
  header.read = {now.tsc, now.monotonic_ns, now.wall_ns};
  return header;
}

std::optional<Error> Follower::write(FileWriter& file, const collect::Moment& now, bool all) {
  const bool full = pending_.size() >= recording::kBlockEvents;
  const bool late = now.monotonic_ns >= pending_since_ns_ + recording::kBlockNs;
  const bool any = !pending_.empty() || !samples_.empty();
  if (since_checkpoint_ + segment::kMaxEventsAtOnce > recording::kCheckpointEvents) {
    needs_checkpoint_ = true;
  }
  if (!needs_checkpoint_ && !at_start_ && !(any && (all || full || late))) return std::nullopt;
  auto error = write_process(file, now);
  if (!error) error = write_blobs(file, now);
  if (!error && at_start_) error = write_start(file);
  if (!error) error = write_events(file, now);
  if (!error && needs_checkpoint_) error = write_checkpoint(file, now);
  if (error) lose_pending();
  return error;
}

void Follower::lose_pending() {
  missed_here_ += pending_.size();
  pending_.clear();
  samples_.clear();
  at_start_ = false;
  needs_checkpoint_ = true;
}

std::optional<Error> Follower::write_process(FileWriter& file, const collect::Moment& now) {
  if (process_written_) return std::nullopt;
  recording::ProcessInfo info{};
  put_text(reader_.file().path(), info.segment);
  info.owner = reader_.file().owner();
  info.trusted = trusted_ ? 1 : 0;
  const segment::Identity& subject = reader_.header().subject;
  const bool own = subject.pid == reader_.header().writer.pid;
  put_text(collect::user_name(trusted_ && !own ? subject.uid : info.owner), info.user);
  const collect::ProcFs procfs("");
  if (subject.pid_namespace != 0 && subject.pid_namespace != procfs.pid_namespace()) {
    put_text(fmt::format("pid namespace {}", subject.pid_namespace), info.container);
  }
  if (redaction_ != nullptr) redaction_->apply(info);
  auto error = file.add(block(BlockKind::kProcess, now), bytes_of(info));
  process_written_ = !error;
  return error;
}

segment::Header Follower::told_header() const {
  segment::Header header = reader_.header();
  for (segment::Section& section : header.sections) {
    if (section.kind == static_cast<std::uint32_t>(SectionKind::kEvents)) {
      section.max_bytes = told_ring_entries() * sizeof(segment::Event);
    }
  }
  if (redaction_ != nullptr) redaction_->apply(header);
  return header;
}

// A larger ring is of use only while it is recorded.
std::uint64_t Follower::told_ring_entries() const {
  return std::min<std::uint64_t>(ring_entries(), segment::kEventCapacity);
}

std::span<const std::byte> Follower::told_blobs() {
  const std::span<const std::byte> blobs = reader_.blobs().bytes();
  if (redaction_ == nullptr) return blobs;
  const std::size_t known = redacted_blobs_.size();
  if (blobs.size() > known) {
    recording::append(redacted_blobs_, blobs.subspan(known));
    redaction_->apply_to_blobs(std::span(redacted_blobs_).subspan(known));
  }
  return redacted_blobs_;
}

std::optional<Error> Follower::write_blobs(FileWriter& file, const collect::Moment& now) {
  const std::uint64_t start = reader_.layout().section(SectionKind::kInterned).offset;
  const std::span<const std::byte> blobs = told_blobs();
  while (blobs_written_ < blobs.size()) {
    const std::size_t bytes =
        std::min<std::size_t>(recording::kBlobChunk, blobs.size() - blobs_written_);
    Bytes patches;
    recording::add_patch(start + blobs_written_, blobs.subspan(blobs_written_, bytes), patches);
    const std::uint64_t interned = blobs_written_ + bytes;
    recording::add_patch(offsetof(segment::Header, interned_bytes), bytes_of(interned), patches);
    if (auto error = file.add(block(BlockKind::kBlobs, now), patches)) return error;
    blobs_written_ = interned;
  }
  return std::nullopt;
}

// In blocks of a size that packs well; each has the samples that hold after its events.
std::optional<Error> Follower::write_events(FileWriter& file, const collect::Moment& now) {
  const collect::TickClock clock(reader_.header().clock, now, true);
  std::size_t done = 0;
  std::size_t sample = 0;
  while (done < pending_.size() || sample < samples_.size()) {
    const std::size_t count =
        std::min<std::size_t>(recording::kBlockEvents, pending_.size() - done);
    const auto events = std::span(pending_).subspan(done, count);
    const bool last = done + count == pending_.size();
    BlockHeader header = block(BlockKind::kEvents, now);
    header.count = static_cast<std::uint32_t>(count);
    if (count > 0) {
      header.first_event = events.front().number;
      header.last_event = events.back().number;
      header.first_ns = clock.wall(events.front().payload.time);
      header.last_ns = clock.wall(events.back().payload.time);
    }
    body_.assign(sizeof(recording::EventsHead), std::byte{0});
    while (sample < samples_.size() && (last || samples_[sample].after <= header.last_event)) {
      recording::append(body_, samples_[sample++].bytes);
    }
    const recording::EventsHead head{body_.size() - sizeof(recording::EventsHead)};
    std::memcpy(body_.data(), &head, sizeof head);
    recording::pack_columns(events, body_);
    if (auto error = file.add(header, body_)) {
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
      return error;
    }
    events_ += count;
    done += count;
  }
  pending_.clear();
  samples_.clear();
  return std::nullopt;
}

// What happened just before the recording began.
void Follower::add_ring(Bytes& into) const {
  const segment::SectionPlace& ring = reader_.layout().section(SectionKind::kEvents);
  const std::uint64_t head = reader_.event();
  const std::uint64_t entries = told_ring_entries();
  const segment::EventRun run = reader_.read_events(head > entries ? head - entries + 1 : 1, head);
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    recording::add_patch(ring.at((run.first + i) % entries), bytes_of(run.events[i]), into);
  }
}

// As a process begins: what came since is told by events and samples.
Bytes Follower::empty_image() const {
  segment::Header header = told_header();
  std::memset(reinterpret_cast<char*>(&header) + segment::kLiveHeaderOffset, 0,
              segment::kLiveHeaderBytes);
  Bytes patches;
  recording::add_patch(0, bytes_of(header), patches);
  return patches;
}

std::optional<Error> Follower::write_start(FileWriter& file) {
  BlockHeader header = block(BlockKind::kCheckpoint, moment_of_start());
  header.last_event = 0;
  auto error = file.add(header, empty_image());
  at_start_ = error.has_value();
  ring_written_ = !error;
  return error;
}

Bytes Follower::whole_image() const {
  Bytes patches;
  const segment::Layout& layout = reader_.layout();
  recording::add_patch(0, bytes_of(told_header()), patches);
  add_records(reader_.devices(), layout.section(SectionKind::kDevices), patches);
  add_records(reader_.device_sets(), layout.section(SectionKind::kDeviceSets), patches);
  add_records(reader_.allocators(), layout.section(SectionKind::kAllocators), patches);
  add_records(reader_.ring_managers(), layout.section(SectionKind::kRingManagers), patches);
  const auto counters = std::make_unique<segment::Counters>();
  if (reader_.read_counters(*counters)) {
    recording::add_patch(layout.section(SectionKind::kCounters).offset, bytes_of(*counters),
                         patches);
  }
  if (const auto peaks = reader_.read_peaks()) {
    recording::add_patch(layout.section(SectionKind::kPeaks).offset, bytes_of(*peaks), patches);
  }
  if (!ring_written_) add_ring(patches);
  const std::uint32_t failures = reader_.header().failure_count;
  for (std::uint64_t next = 1; next <= failures; next = segment::next_failure(next, failures)) {
    const auto number = static_cast<std::uint32_t>(next);
    if (const auto failure = reader_.read_failure(number)) add_failure(*failure, patches);
  }
  return patches;
}

// With its list, unless that is long: a checkpoint repeats it.
void Follower::add_failure(segment::Failure& failure, Bytes& patches) const {
  std::optional<std::vector<segment::Slot>> list;
  if (failure.list_slots <= kMostListSlots) list = reader_.read_list(failure);
  if (!list) {
    failure.list_slots = 0;
    failure.list_state = static_cast<std::uint32_t>(segment::ListState::kCut);
  }
  if (redaction_ != nullptr) redaction_->apply(failure);
  const segment::Layout& layout = reader_.layout();
  recording::add_patch(
      layout.section(SectionKind::kFailures).at(segment::failure_place(failure.number)),
      bytes_of(failure), patches);
  if (!list || list->empty()) return;
  recording::add_patch(layout.section(SectionKind::kLists).at(failure.list_first),
                       std::as_bytes(std::span(*list)), patches);
}

// Between the moment that the segment says and now, all clocks went evenly.
collect::Moment Follower::moment_of_last_event(const collect::Moment& now) const {
  const segment::Clock& clock = reader_.header().clock;
  const bool tsc = clock.kind == static_cast<std::uint32_t>(segment::ClockKind::kTsc);
  const std::uint64_t ticks_now = tsc ? now.tsc : now.monotonic_ns;
  if (last_ticks_ <= clock.ticks || last_ticks_ >= ticks_now) return now;
  const double part =
      static_cast<double>(last_ticks_ - clock.ticks) / static_cast<double>(ticks_now - clock.ticks);
  return collect::between(moment_of_start(), now, part);
}

collect::Moment Follower::moment_of_start() const {
  const segment::Clock& clock = reader_.header().clock;
  const bool tsc = clock.kind == static_cast<std::uint32_t>(segment::ClockKind::kTsc);
  return {tsc ? clock.ticks : 0, clock.monotonic_ns, clock.wall_ns};
}

std::optional<Error> Follower::write_checkpoint(FileWriter& file, const collect::Moment& now) {
  std::vector<recording::SlotRecord> slots;
  for (std::uint32_t i = 0; i < table_.size(); ++i) {
    if (!Meta::live(table_[i].payload.meta)) continue;
    slots.push_back({table_[i].version >> 1, i, table_[i].payload});
  }
  const collect::Moment at = behind_ ? moment_of_last_event(now) : now;
  BlockHeader header = block(BlockKind::kCheckpoint, at);
  header.count = static_cast<std::uint32_t>(slots.size());
  header.missed = missed_here_;
  if (auto error = file.add(header, behind_ ? sampled_image_ : whole_image())) return error;
  for (std::size_t done = 0; done < slots.size(); done += recording::kBlockSlots) {
    const auto part = std::span(slots).subspan(
        done, std::min<std::size_t>(recording::kBlockSlots, slots.size() - done));
    BlockHeader of_slots = block(BlockKind::kSlots, at);
    of_slots.count = static_cast<std::uint32_t>(part.size());
    body_.clear();
    recording::pack_columns(part, body_);
    if (auto error = file.add(of_slots, body_)) return error;
  }
  missed_ += missed_here_;
  missed_here_ = 0;
  ring_written_ = true;
  since_checkpoint_ = 0;
  needs_checkpoint_ = false;
  return std::nullopt;
}

std::optional<Error> Follower::write_end(FileWriter& file, const collect::Moment& now) {
  recording::EndInfo end{};
  end.how = static_cast<std::uint32_t>(liveness_.ended());
  end.at_ns = now.wall_ns;
  return file.add(block(BlockKind::kEnd, now), bytes_of(end));
}

}  // namespace ttmem::record
