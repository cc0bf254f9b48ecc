// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Reads on a thread of its own, so that a slow directory, a huge process or a stopped disk never
// holds up a key or a resize: the screen goes on with the last frame and says how old it is.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "collect/collector.hpp"
#include "fleet/ask_engine.hpp"
#include "top/frame.hpp"

namespace ttmem::top {

// Fills a frame with the state of this moment. Called by one thread only.
using Read = std::function<void(const Request& request, Frame& frame)>;

// Adds to a snapshot what this user may not read, where somebody else tells it.
using Complete =
    std::function<void(const collect::Collector& collector, ledger::Snapshot& snapshot)>;

// Reads through a collector. Events are listed from the first request that asks for them; what
// grows from step to step is followed from the start, unless so much happens that it would cost too
// much.
Read collector_reader(const collect::Options& options, Complete complete = {});

// Reads a recording at the moment that a request names. `first` is the one before any is named.
Read recording_reader(const std::string& file, const collect::Options& options,
                      ledger::TimeNs first);

// Asks an engine for many hosts. While it does not answer, the frame has what it told last.
Read fleet_reader(const fleet::Engine& engine, const fleet::EngineQuestion& question);

// How long reading rests after a look. Looks may spend what time earns them, a share of a core, and
// a look is due once a second whatever it costs: with very many processes the data come less often
// than asked for, and keys are still answered at once.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  static constexpr double kShare = 0.035;
  static constexpr Seconds kLongestRest{1.0};

  explicit Budget(Clock::time_point start) : since_(start) {}

  // After a look from `begin` to `end` that took `cpu`, of a reader that wants one every
  // `interval`.
  Seconds rest(Clock::time_point begin, Clock::time_point end, Seconds cpu, Seconds interval) {
    const Seconds earned = Seconds(end - std::exchange(since_, end)) * kShare;
    saved_ = std::clamp<Seconds>(saved_ + earned - cpu, -kMost, kMost);
    return std::max<Seconds>(interval - (end - begin), -saved_ / kShare);
  }

 private:
  static constexpr Seconds kMost = kLongestRest * kShare;  // that is saved or owed
  Seconds saved_{};
  Clock::time_point since_;
};

class Source {
 public:
  explicit Source(Read read);
  // Does not wait for a read that hangs.
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // What to read, how often, and whether to rest. A change of the request is read at once.
  void want(const Request& request, double interval_s, bool paused);
  // The newest frame, or null if there is none since the last call.
  std::shared_ptr<const Frame> take();
  // Becomes readable when there is a new frame.
  int descriptor() const;
  // Seconds since a read was finished; 0 before the first.
  double age_s() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace ttmem::top
