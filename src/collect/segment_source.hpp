// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One segment, followed into one ledger. Each update reads what changed, decides whether the
// process lives, and leaves the ledger at the exact state after one event.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/clock.hpp"
#include "collect/collector.hpp"
#include "collect/directories.hpp"
#include "collect/event_decoder.hpp"
#include "collect/liveness.hpp"
#include "collect/numbered_chips.hpp"
#include "collect/procfs.hpp"
#include "ledger/assemble.hpp"
#include "ledger/launch_watch.hpp"
#include "ledger/process_ledger.hpp"
#include "ledger/snapshot.hpp"
#include "ledger/space_picture.hpp"
#include "segment/reader.hpp"

namespace ttmem::collect {

// The words of a header that tell whether records with a version, or blobs, have changed.
struct RecordsState {
  std::uint32_t changes;
  std::uint64_t interned_bytes;
  std::uint32_t devices, device_sets, allocators, ring_managers;
  bool operator==(const RecordsState&) const = default;
};

class SegmentSource final : private segment::SlotSink {
 public:
  static Result<std::unique_ptr<SegmentSource>> open(const Found& file, std::uint64_t key,
                                                     const Options& options);

  // Of a recorded process, as a file that was put together again. Nobody is asked about it but
  // tell_end.
  static Result<std::unique_ptr<SegmentSource>> replay(segment::ReadOnlyFile file, bool trusted,
                                                       std::uint64_t key, const Options& options);
  // It was alive at the moment that is updated to, or had ended like this.
  void tell_end(ledger::Ended how, ledger::TimeNs at);

  // Reads what changed. An error means that the segment can no longer be followed; what is in the
  // ledger is the last good state.
  std::optional<Error> update(const ProcFs& procfs, const Moment& now, bool exited);
  // Whether it may be left alone now: it was quiet, and its last look is less than `every_ns` ago.
  bool rests(const Moment& now, std::uint64_t every_ns) const {
    return liveness_.descriptor() >= 0 && now.monotonic_ns < looked_ns_ + every_ns &&
           now.monotonic_ns >= changed_ns_ + kQuietFor * every_ns;
  }
  // Works out its figures, which the ledger then keeps: what it costs is known before anybody else
  // is asked to wait for it. Throws ledger::TooMuch.
  void work_out(bool totals_only) const;
  // Whether an update was made at all.
  bool was_read() const { return !first_; }
  // Whether the last update found anything new.
  bool changed() const { return changed_; }

  // Lets every device that the process knows by its number alone be the chip that is meant. Says
  // whether that changed anything.
  bool join(const NumberedChips& chips);

  // After an update: notes the launches that came since the one before.
  void watch(ledger::TimeNs now);
  const ledger::LaunchWatch& launches() const { return launches_; }

  const ledger::ProcessLedger& ledger() const { return *ledger_; }
  const segment::Reader& reader() const { return reader_; }
  const segment::Header& header() const { return reader_.header(); }
  const std::string& path() const { return reader_.file().path(); }
  std::uint64_t key() const { return key_; }
  std::uint32_t owner() const { return reader_.file().owner(); }
  // Whether it names a process of another user, for whom its owner may not speak.
  bool is_false_claim() const { return liveness_.is_false_claim(); }
  // Whether its owner may speak for processes of others.
  bool is_trusted() const { return trusted_; }
  bool alive() const { return liveness_.ended() == ledger::Ended::kAlive; }
  ledger::Ended ended() const { return liveness_.ended(); }
  int exit_descriptor() const { return liveness_.descriptor(); }
  ledger::TimeNs wall(std::uint64_t ticks) const { return clock_.wall(ticks); }

  // Everything about the process but its devices.
  const ledger::ProcessView& identity() const { return identity_; }
  // When it held the most, as of now: the process may have gone on since the last update.
  ledger::PeakRecords peaks() const;
  // What was held at a failure, in a ledger of its own.
  Result<ledger::ProcessLedger> picture(std::uint32_t number) const;
  // The same of the space that failed alone, for findings.
  Result<ledger::FailurePicture> failed_space(std::uint32_t number,
                                              const ledger::Naming& naming) const;

  // The events since the last call; and the one that the process has ended, as it says itself or
  // was `seen`. Only with Options::events.
  EventBatch take_events();
  DecodedEvent end_event(ledger::TimeNs seen) const;

 private:
  static constexpr std::uint64_t kQuietFor = 4;  // times as long as the pause between looks

  SegmentSource(segment::Reader reader, bool trusted, std::uint64_t key, const Options& options);

  void on_slot(std::uint32_t index, const segment::Payload& payload) override;
  void on_launches(std::uint32_t index, const segment::Payload& payload) override;

  void set_launches(std::uint32_t index, const segment::Payload& payload);
  bool update_geometry();
  void feed_origin(const segment::BlobView& blob, ledger::ProcessLedger& ledger) const;
  void feed_blobs(ledger::ProcessLedger& ledger, std::size_t from) const;
  bool update_table(segment::TableUpdate& update);
  void update_counters();
  void update_failures();
  Result<std::unique_ptr<segment::Failure>> failure(std::uint32_t number) const;
  bool draw(const segment::Failure& failure, ledger::ProcessLedger& picture) const;
  void describe();
  void tell_events(const segment::TableUpdate& update, std::uint64_t before, bool had_unsettled);

  segment::Reader reader_;
  bool trusted_;
  std::uint64_t key_;
  bool hidden_;            // its words are not told
  bool names_native_;      // its calls of native code may be named
  bool replayed_ = false;  // its clock is that of the moments which it is updated to
  std::unique_ptr<ledger::ProcessLedger> ledger_;
  Liveness liveness_;
  std::uint64_t looked_ns_ = 0;
  std::uint64_t changed_ns_ = 0;
  TickClock clock_;
  bool first_ = true;
  bool changed_ = false;
  bool final_ = false;                   // ended and read to the end: nothing changes any more
  bool again_ = false;                   // something could not be read: also if nothing changed
  segment::LiveHeader seen_{};           // what the last update was made of
  std::optional<RecordsState> records_;  // as of the last look at them
  std::uint64_t end_seen_ns_ = 0;        // when an update first found that it had ended
  std::size_t blobs_fed_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t unsettled_ = 0;
  std::uint32_t failures_seen_ = 0;
  std::optional<std::uint64_t> counted_order_;  // launches as of the last look at the counters
  segment::CounterFront counters_{};
  ledger::LaunchWatch launches_;
  std::vector<ledger::FailureView> failures_;
  std::vector<std::uint64_t> failure_ticks_;  // when each happened
  ledger::ProcessView identity_;
  std::unique_ptr<EventDecoder> decoder_;                            // null: events are not kept
  std::vector<std::pair<std::uint32_t, segment::Payload>> waiting_;  // slots, for the decoder
};

}  // namespace ttmem::collect
