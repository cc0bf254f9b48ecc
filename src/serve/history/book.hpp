// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The history as it is: what changes goes to the tracks and runs in memory, and from there in
// batches to the store. Answers are read from the store, with what still waits laid over it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "serve/history/device_book.hpp"
#include "serve/history/history.hpp"
#include "serve/history/reading.hpp"
#include "serve/history/run_book.hpp"
#include "serve/history/sampler.hpp"
#include "serve/history/store.hpp"
#include "serve/history/tracks.hpp"
#include "serve/history/up_times.hpp"

namespace ttmem::serve::history {

// Renames a broken file and its journal; nothing is replaced. "" if that fails.
std::string move_aside(const std::string& path, std::int64_t now_s);

// The books in memory, and the store that they are written to.
class Book final : public History {
 public:
  Book(std::string path, const Limits& limits, std::unique_ptr<Store> store)
      : path_(std::move(path)), limits_(limits), store_(std::move(store)), tracks_(limits.series) {}

  bool load() { return store_->load(devices_, tracks_, runs_, up_); }
  const Store& store() const { return *store_; }
  void say(std::string problem) { problem_ = std::move(problem); }

  void record(const ledger::Snapshot& snapshot, TimeNs now) override;
  void tick(TimeNs now) override;
  void close(TimeNs now) override;
  Result<Answer> query(const Query& query, TimeNs now) override;
  Result<std::vector<Run>> runs(const RunQuery& query, TimeNs now) override;
  Status status() const override;

 private:
  TimeNs settle_clock(TimeNs now);
  bool be_here(std::int64_t now_s);
  void write_if_due(std::int64_t now_s);
  void write(std::int64_t now_s);
  void cope(std::int64_t now_s);
  void begin_anew(std::int64_t now_s);
  std::vector<StoredSeries> series_for(const Query& query, std::size_t metric);
  std::vector<std::uint64_t> runs_with(std::int32_t pid);
  bool wants_device(const Query& query, std::uint64_t number) const;
  Series name(const StoredSeries& series, bool of_device);
  bool read(const Plan& plan, const StoredSeries& stored, Series& series, std::int64_t now_s);
  Run to_answer(const KnownRun& known) const;
  bool has(const KnownRun& known, const RunQuery& query) const;
  std::array<std::int64_t, kTiers> kept_from_s() const;

  std::string path_;
  Limits limits_;
  std::unique_ptr<Store> store_;
  DeviceBook devices_;
  RunBook runs_;
  Tracks tracks_;
  Sampler sampler_;
  UpTimes up_;

  std::string problem_;
  TimeNs clock_ = 0;    // never goes back
  TimeNs sampled_ = 0;  // the last round; 0: none yet
  bool here_ = false;   // it was there a moment ago
  std::int64_t written_s_ = 0;
  std::int64_t wait_s_ = 0;  // before another try, after a failure
  std::uint64_t lost_rows_ = 0;
  std::uint64_t batches_ = 0;
};

}  // namespace ttmem::serve::history
