// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One process, followed into a recording. A look takes what is new in its segment; what was taken
// is written as blocks when enough has come together. Events that were overwritten before a look
// are a gap with its count, and a checkpoint after it makes the state whole again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collect/clock.hpp"
#include "collect/directories.hpp"
#include "collect/liveness.hpp"
#include "collect/procfs.hpp"
#include "record/redaction.hpp"
#include "recording/columns.hpp"
#include "recording/file_writer.hpp"
#include "recording/patches.hpp"
#include "segment/reader.hpp"

namespace ttmem::record {

struct FollowOptions {
  bool launches = false;  // what no event carries is sampled at every look, else at times
  // A process that began after this moment (monotonic) is recorded from its first event on.
  std::uint64_t since_ns = ~std::uint64_t{0};
};

class Follower final : private segment::SlotSink {
 public:
  // `number` is that of the process in the recording.
  static Result<std::unique_ptr<Follower>> open(const collect::Found& file, std::uint32_t number,
                                                const FollowOptions& options);
  // Before the first look: nothing is written that it does not pass. It outlives the follower.
  void redact(Redaction& redaction) { redaction_ = &redaction; }

  // Takes what is new. An error: it can no longer be followed, and its recording ends here.
  std::optional<Error> look(const collect::ProcFs& procfs, const collect::Moment& now, bool exited);
  // Writes what is due by now, or everything. After an error the events of this call are lost: a
  // gap, like any other.
  std::optional<Error> write(recording::FileWriter& file, const collect::Moment& now, bool all);
  // Says in the recording how it ended, once it has been written.
  std::optional<Error> write_end(recording::FileWriter& file, const collect::Moment& now);
  // The next write goes into another file, which must stand for itself; there it has this number.
  void start_file(std::uint32_t number);

  bool has_ended() const { return liveness_.ended() != ledger::Ended::kAlive; }
  // All that there was has been taken; while it is not, the next look goes on at once.
  bool is_behind() const { return behind_; }
  bool is_done() const { return has_ended() && !behind_; }
  int exit_descriptor() const { return liveness_.descriptor(); }
  const segment::Reader& reader() const { return reader_; }
  // Of a stranger, what it costs has limits.
  bool is_trusted() const { return trusted_; }
  std::int32_t pid() const { return reader_.header().subject.pid; }
  // How much of the ring the last look found new, from 0 to 1, where 1 is more than it could take;
  // and its size in events.
  double fill() const { return fill_; }
  std::uint64_t ring_entries() const;
  std::uint64_t events() const { return events_; }  // recorded so far
  std::uint64_t missed() const { return missed_; }

 private:
  Follower(segment::Reader reader, bool trusted, std::uint32_t number,
           const FollowOptions& options);

  void on_slot(std::uint32_t index, const segment::Payload& payload) override;
  void on_launches(std::uint32_t index, const segment::Payload& payload) override;

  bool take_records(recording::Bytes& needed);
  template <typename Record>
  bool take_records_of(segment::SectionKind kind, recording::Bytes& needed);
  bool take_table(const collect::Moment& now, bool sampling);
  void take_events(const segment::EventRun& run);
  void take_sample(const collect::Moment& now);
  void take_peaks(recording::Bytes& patches);
  void take_failures(const collect::Moment& now);
  void add_failure(segment::Failure& failure, recording::Bytes& patches) const;
  void add_sample(std::uint64_t after, const collect::Moment& now, bool needed,
                  const recording::Bytes& patches);
  void put(std::uint32_t index, std::uint64_t version, const segment::Payload& payload);
  recording::Bytes whole_image() const;
  recording::Bytes empty_image() const;
  segment::Header told_header() const;
  std::uint64_t told_ring_entries() const;
  std::span<const std::byte> told_blobs();
  void add_ring(recording::Bytes& into) const;

  std::optional<Error> write_blobs(recording::FileWriter& file, const collect::Moment& now);
  std::optional<Error> write_events(recording::FileWriter& file, const collect::Moment& now);
  std::optional<Error> write_start(recording::FileWriter& file);
  std::optional<Error> write_checkpoint(recording::FileWriter& file, const collect::Moment& now);
  std::optional<Error> write_process(recording::FileWriter& file, const collect::Moment& now);
  recording::BlockHeader block(recording::BlockKind kind, const collect::Moment& now) const;
  collect::Moment moment_of_start() const;
  collect::Moment moment_of_last_event(const collect::Moment& now) const;
  void lose_pending();

  struct PendingSample {
    std::uint64_t after = 0;
    recording::Bytes bytes;  // head and patches
  };
  struct LiveWords {
    std::uint64_t a, b, time;
  };

  segment::Reader reader_;
  bool trusted_;
  std::uint32_t number_;
  bool launches_;
  collect::Liveness liveness_;
  Redaction* redaction_ = nullptr;   // null: everything is told as it is
  recording::Bytes redacted_blobs_;  // all so far, if there is one

  // What the segment held at the last look.
  bool first_ = true;
  segment::LiveHeader seen_{};
  std::vector<segment::Slot> table_;
  std::map<std::uint32_t, LiveWords> words_;  // of launches, not yet sampled
  recording::Shadow counters_, peaks_;
  std::array<recording::Shadow, segment::kMaxWatermarks> watermarks_;
  // What samples have told so far, for a checkpoint while it is behind.
  recording::Bytes sampled_image_;
  recording::Bytes changed_;            // records, for the next sample
  std::uint32_t records_told_[4] = {};  // devices, sets, allocators, ring managers
  std::uint32_t failures_seen_ = 0;
  std::uint64_t sampled_ns_ = 0;  // monotonic, of the last sample
  std::uint64_t looked_at_ = 0;   // event
  std::uint64_t last_ticks_ = 0;  // of the latest event
  double fill_ = 0;
  bool behind_ = false;  // the last look could not take all that was there

  // What is not written yet.
  std::vector<recording::SlotRecord> pending_;
  std::vector<PendingSample> samples_;
  std::uint64_t pending_since_ns_ = 0;
  std::uint64_t blobs_written_ = 0;
  bool process_written_ = false;
  bool ring_written_ = false;
  bool at_start_ = false;  // what is pending begins with the first event of the process
  bool needs_checkpoint_ = true;
  std::uint64_t missed_here_ = 0;  // since the last checkpoint
  std::uint64_t since_checkpoint_ = 0;
  recording::Bytes body_;

  std::uint64_t events_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace ttmem::record
