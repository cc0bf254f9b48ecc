// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/segment_source.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "collect/convert.hpp"
#include "collect/process_description.hpp"
#include "segment/reader_header.hpp"

namespace ttmem::collect {

namespace {

using segment::BlobKind;
using segment::Kind;
using segment::Meta;
using segment::Payload;

const Error kNotAsked{ErrorCode::kSystem, "whether its process lives could not be asked"};
const Error kUnreadable{ErrorCode::kCorrupt, "it shrank or contradicts itself: no longer followed"};

}  // namespace

Result<std::unique_ptr<SegmentSource>> SegmentSource::open(const Found& file, std::uint64_t key,
                                                           const Options& options) {
  auto reader = segment::Reader::open(file.path, file.owner);
  if (!reader) return reader.error();
  const bool trusted = speaks_for_others(file, reader->file().owner());
  return std::unique_ptr<SegmentSource>(
      new SegmentSource(std::move(*reader), trusted, key, options));
}

Result<std::unique_ptr<SegmentSource>> SegmentSource::replay(segment::ReadOnlyFile file,
                                                             bool trusted, std::uint64_t key,
                                                             const Options& options) {
  auto reader = segment::Reader::adopt(std::move(file));
  if (!reader) return reader.error();
  auto source =
      std::unique_ptr<SegmentSource>(new SegmentSource(std::move(*reader), trusted, key, options));
  source->replayed_ = true;
  source->tell_end(ledger::Ended::kAlive, 0);
  return source;
}

void SegmentSource::tell_end(ledger::Ended how, ledger::TimeNs at) {
  liveness_.tell(how);
  end_seen_ns_ = at;
}

SegmentSource::SegmentSource(segment::Reader reader, bool trusted, std::uint64_t key,
                             const Options& options)
    : reader_(std::move(reader)),
      trusted_(trusted),
      key_(key),
      hidden_(false),
      names_native_(false),
      ledger_(std::make_unique<ledger::ProcessLedger>()),
      clock_(reader_.header().clock, Moment::now(), true) {
  const std::uint32_t user = process_view(reader_, trusted, clock_).uid;
  hidden_ = options.hides_words_of(user);
  // Nobody opens a file that somebody else has named.
  names_native_ = options.native_names && user == ::geteuid();
  if (trusted) liveness_.trust();
  if (options.events) decoder_ = std::make_unique<EventDecoder>(reader_, clock_, *ledger_);
}

std::optional<Error> SegmentSource::update(const ProcFs& procfs, const Moment& now, bool exited) {
  changed_ = false;
  looked_ns_ = now.monotonic_ns;
  if (final_) return std::nullopt;
  liveness_.look(procfs, header(), reader_.file(), exited, now.monotonic_ns);
  if (liveness_.is_unknown()) return kNotAsked;
  if (auto error = reader_.refresh()) return error;
  const bool ended = liveness_.conclude(header()) != ledger::Ended::kAlive;
  final_ = ended;
  if (ended && !first_ && !replayed_) end_seen_ns_ = now.wall_ns;
  // The last look at an ended process reads all: its writer may have died between a change and the
  // word that tells of it.
  const bool settled = !first_ && !ended && unsettled_ == 0 && !again_;
  if (settled && reader_.live() == seen_) return std::nullopt;
  seen_ = reader_.live();
  changed_ = true;
  changed_ns_ = now.monotonic_ns;
  clock_ = TickClock(header().clock, now, replayed_ || same_boot(procfs, header().subject));

  const std::uint64_t before = reader_.event();
  const bool had_unsettled = unsettled_ > 0;
  segment::TableUpdate update;
  if (!update_geometry() || !update_table(update)) return kUnreadable;
  // Slots may refer to what was published after the first look at it.
  if (reader_.event() != before && (reader_.refresh() || !update_geometry())) return kUnreadable;
  if (decoder_) tell_events(update, before, had_unsettled);
  update_counters();
  update_failures();
  describe();
  first_ = false;
  // The dead may be many, and stay for a day. The image of a recording has no name to open it by.
  if (final_ && !replayed_) reader_.rest();
  return std::nullopt;
}

void SegmentSource::work_out(bool totals_only) const {
  for (const ledger::DeviceIndex device : ledger_->devices()) {
    ledger_->figures(device, totals_only);
  }
}

bool SegmentSource::join(const NumberedChips& chips) {
  bool any = false;
  for (const ledger::DeviceIndex index : ledger_->devices()) {
    const ledger::DeviceRecord& known = ledger_->device(index);
    if (!known.numbered || !known.metal_id) continue;
    const NumberedChips::Chip chip = chips.find(static_cast<std::uint32_t>(*known.metal_id));
    if (chip == NumberedChips::Chip{known.unique_id, known.arch}) continue;
    ledger::DeviceRecord joined = known;
    joined.unique_id = chip.unique_id;
    joined.arch = chip.arch;
    ledger_->set_device(index, std::move(joined));
    any = true;
  }
  return any;
}

void SegmentSource::watch(ledger::TimeNs now) {
  if (!changed_) return launches_.pass(now);
  launches_.look(*ledger_, now, [this](ledger::Ticks ticks) { return clock_.wall(ticks); });
}

bool SegmentSource::update_geometry() {
  const segment::Header& now = header();
  const RecordsState state{now.changes,          now.interned_bytes,  now.device_count,
                           now.device_set_count, now.allocator_count, now.ring_manager_count};
  if (records_ == state && !final_) return true;
  records_ = state;
  reader_.update_blobs();
  // What could not be read now is not read later: sets and records refer to it.
  if (reader_.blobs().is_behind(now.interned_bytes)) return false;
  feed_blobs(*ledger_, blobs_fed_);
  blobs_fed_ = reader_.blobs().ids().size();
  const auto index16 = [](std::uint32_t index) { return static_cast<std::uint16_t>(index); };
  return reader_.update_devices([&](std::uint32_t index, const segment::Device& device) {
    ledger_->set_device(index16(index), device_of(device, reader_.blobs()));
  }) && reader_.update_device_sets([&](std::uint32_t index, const segment::DeviceSet& set) {
    ledger_->set_device_set(index16(index), device_set_of(set, reader_.blobs()));
  }) && reader_.update_allocators([&](std::uint32_t index, const segment::Allocator& allocator) {
    ledger_->set_allocator(index16(index), allocator_of(allocator, reader_.blobs()));
  }) && reader_.update_ring_managers([&](std::uint32_t index, const segment::RingManager& rings) {
    ledger_->set_ring_manager(index, ring_manager_of(rings));
  });
}

void SegmentSource::feed_blobs(ledger::ProcessLedger& ledger, std::size_t from) const {
  const auto& ids = reader_.blobs().ids();
  for (std::size_t i = from; i < ids.size(); ++i) {
    const auto blob = reader_.blobs().find(ids[i]);
    if (!blob) continue;
    switch (blob->kind) {
      case BlobKind::kString:
        ledger.set_string(blob->id, string_of(*blob));
        break;
      case BlobKind::kCores:
      case BlobKind::kBanks:
        ledger.set_cores(blob->id, core_set_of(*blob));
        break;
      case BlobKind::kAddresses:
        ledger.set_addresses(blob->id, addresses_of(*blob));
        break;
      case BlobKind::kMembers:
        ledger.set_members(blob->id, members_of(*blob));
        break;
      case BlobKind::kFrame:
      case BlobKind::kFrameNode:
      case BlobKind::kRegionNode:
        if (!hidden_) feed_origin(*blob, ledger);
        break;
      default:
        feed_origin(*blob, ledger);
        break;
    }
  }
}

void SegmentSource::feed_origin(const segment::BlobView& blob,
                                ledger::ProcessLedger& ledger) const {
  if (const auto frame = segment::frame_in(blob)) {
    ledger.set_frame(blob.id, frame_of(*frame, reader_.blobs(), names_native_));
  } else if (const auto node = segment::node_in(blob)) {
    ledger.set_origin(blob.id, origin_of(*node));
  }
}

bool SegmentSource::update_table(segment::TableUpdate& update) {
  if (!reader_.update_table(*this, update)) return false;
  lost_events_ += update.missed;
  unsettled_ = update.unsettled + (update.settled ? 0 : 1);
  return true;
}

void SegmentSource::on_slot(std::uint32_t index, const Payload& payload) {
  if (decoder_ && !first_) {
    waiting_.emplace_back(index, payload);  // until the events before it have been told
  } else if (!first_ || Meta::live(payload.meta)) {
    ledger_->apply(index, record_of(payload, reader_.blobs(), clock_));
  }
}

void SegmentSource::on_launches(std::uint32_t index, const Payload& payload) {
  if (decoder_ && !first_) {
    waiting_.emplace_back(index, payload);
  } else {
    set_launches(index, payload);
  }
}

void SegmentSource::set_launches(std::uint32_t index, const Payload& payload) {
  if (Meta::live(payload.meta)) ledger_->set_launches(index, launches_of(payload, clock_));
}

// The reader hands over the state after all events at once; told one by one, they lead to the same.
void SegmentSource::tell_events(const segment::TableUpdate& update, std::uint64_t before,
                                bool had_unsettled) {
  if (!update.table_read) {
    decoder_->follow(update.events);
    // An event has no launches in it, and slots that had to be read again have no event.
    for (const auto& [index, payload] : waiting_) {
      const Kind kind = Meta::kind(payload.meta);
      if (kind == Kind::kWorkload || kind == Kind::kTrace) set_launches(index, payload);
      if (had_unsettled) ledger_->apply(index, record_of(payload, reader_.blobs(), clock_));
    }
  } else {
    for (const auto& [index, payload] : waiting_) {
      ledger_->apply(index, record_of(payload, reader_.blobs(), clock_));
    }
    const segment::EventRun run = reader_.read_events(before + 1, update.event);
    const std::uint64_t known_from = run.events.empty() ? update.event + 1 : run.first;
    decoder_->retell(run, known_from - before - 1);
  }
  waiting_.clear();
}

EventBatch SegmentSource::take_events() { return decoder_->take(); }

DecodedEvent SegmentSource::end_event(ledger::TimeNs seen) const {
  const ledger::TimeNs closed = clock_.wall(header().ended_ticks);
  return decoder_->ended(closed != 0 ? closed : seen, ended());
}

void SegmentSource::update_counters() {
  segment::CounterFront front;
  again_ = !reader_.read_counter_front(front);
  if (again_) return;  // not there yet
  if (counted_order_ == header().order && std::memcmp(&front, &counters_, sizeof front) == 0)
    return;
  segment::Counters counters;
  again_ = !reader_.read_counters(counters);
  if (again_) return;
  counters_ = front;
  counted_order_ = header().order;
  for (std::uint32_t device = 1; device <= reader_.devices().count(); ++device) {
    ledger_->set_counters(static_cast<ledger::DeviceIndex>(device), counters_of(counters, device));
  }
}

void SegmentSource::update_failures() {
  if (header().failure_count == failures_seen_) return;
  failures_seen_ = header().failure_count;
  failures_.clear();
  failure_ticks_.clear();
  for (std::uint64_t number = 1; number <= failures_seen_;
       number = segment::next_failure(number, failures_seen_)) {
    if (const auto failure = reader_.read_failure(static_cast<std::uint32_t>(number))) {
      failures_.push_back(failure_view(*failure, reader_, ledger_->catalog(), clock_));
      failure_ticks_.push_back(failure->ticks);
    }
  }
}

ledger::PeakRecords SegmentSource::peaks() const {
  const auto peaks = reader_.read_peaks();
  return peaks ? peaks_of(*peaks) : ledger::PeakRecords{};
}

Result<std::unique_ptr<segment::Failure>> SegmentSource::failure(std::uint32_t number) const {
  auto failure = reader_.read_failure(number);
  if (failure) return failure;
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no failure {} of this process: the first {} and the last {} "
                           "are kept",
                           number, segment::kFirstFailures, segment::kLastFailures)};
}

Result<ledger::ProcessLedger> SegmentSource::picture(std::uint32_t number) const {
  const auto failure = this->failure(number);
  if (!failure) return failure.error();
  ledger::ProcessLedger picture;
  draw(**failure, picture);
  return picture;
}

// Whether every buffer of the space that failed is in it.
bool SegmentSource::draw(const segment::Failure& failure, ledger::ProcessLedger& picture) const {
  feed_blobs(picture, 0);
  const segment::BlobReader& blobs = reader_.blobs();
  for (std::uint32_t i = 1; i <= reader_.devices().count(); ++i) {
    picture.set_device(static_cast<std::uint16_t>(i), device_of(reader_.devices()[i], blobs));
  }
  for (std::uint32_t i = 1; i <= reader_.device_sets().count(); ++i) {
    picture.set_device_set(static_cast<std::uint16_t>(i),
                           device_set_of(reader_.device_sets()[i], blobs));
  }
  for (std::uint32_t i = 1; i <= reader_.allocators().count(); ++i) {
    picture.set_allocator(static_cast<std::uint16_t>(i),
                          allocator_of(reader_.allocators()[i], blobs));
  }
  const auto list = reader_.read_list(failure);
  const bool complete =
      list && failure.list_state == static_cast<std::uint32_t>(segment::ListState::kComplete);
  const auto is_listed = [&](const Payload& payload) {
    return Meta::kind(payload.meta) == Kind::kBuffer &&
           Meta::space(payload.meta) == failure.space &&
           (failure.allocator == 0 || payload.allocator == failure.allocator);
  };
  for (std::uint32_t i = 0; i < failure.picture_slots; ++i) {
    const Payload& payload = failure.picture[i].payload;
    if (complete && is_listed(payload)) continue;
    picture.apply(i, record_of(payload, blobs, clock_));
  }
  for (std::uint32_t i = 0; complete && i < list->size(); ++i) {
    const Payload& payload = (*list)[i].payload;
    if (!is_listed(payload) || !Meta::live(payload.meta)) continue;
    picture.apply(segment::kMaxPictureSlots + i, record_of(payload, blobs, clock_));
  }
  return complete || failure.truncated == 0;
}

Result<ledger::FailurePicture> SegmentSource::failed_space(std::uint32_t number,
                                                           const ledger::Naming& naming) const {
  const auto found = failure(number);
  if (!found) return found.error();
  const segment::Failure& failure = **found;
  ledger::ProcessLedger all;
  const bool complete = draw(failure, all);
  ledger::PictureQuestion question;
  question.allocator = failure.allocator;
  if (failure.space < ledger::kSpaces) question.space = static_cast<ledger::Space>(failure.space);
  const ledger::DeviceSetRecord* set = all.device_set(failure.set);
  if (set && !set->devices.empty()) question.device = set->devices.front();
  auto space = all.space_picture(question, naming);
  if (!space) {
    return Error{ErrorCode::kNotFound,
                 "the allocator behind this failure is not known, so there is no picture of it"};
  }
  ledger::FailurePicture picture;
  picture.failed = std::move(*space);
  picture.failed.complete = picture.failed.complete && complete;
  if (failure.truncated != 0) picture.failed.l1_small_held.reset();
  question.space = ledger::Space::kDram;
  if (picture.failed.space != ledger::Space::kDram && failure.truncated == 0) {
    picture.dram = all.space_picture(question, naming);
  }
  return picture;
}

void SegmentSource::describe() {
  ledger::ProcessView& view = identity_;
  view = process_view(reader_, trusted_, clock_);
  view.key = key_;
  view.ended = liveness_.ended();
  view.alive = alive();
  // Only a process that closes tells when. Of others it is known to those who were looking.
  view.ended_at =
      view.ended == ledger::Ended::kClosed ? clock_.wall(header().ended_ticks) : end_seen_ns_;
  view.tracking = tracking_of(reader_, counters_);
  view.tracking.lost_events = lost_events_;
  view.tracking.unsettled = unsettled_;
  // One clock for all times of a look, whenever each thing was seen first.
  for (std::size_t i = 0; i < failures_.size(); ++i) {
    failures_[i].time = clock_.wall(failure_ticks_[i]);
  }
  view.failures = failures_;
  view.failure_count = failures_seen_;
  if (hidden_) view.hide_words();
}

}  // namespace ttmem::collect
