// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Reads on a thread of its own, so that a slow directory, a huge process or a stopped disk never
// holds up a key or a resize: the screen goes on with the last frame and says how old it is.
#pragma once

#include <functional>
#include <memory>

#include "collect/collector.hpp"
#include "top/frame.hpp"

namespace ttmem::top {

// Fills a frame with the state of this moment. Called by one thread only.
using Read = std::function<void(const Request& request, Frame& frame)>;

// Adds to a snapshot what this user may not read, where somebody else tells it.
using Complete =
    std::function<void(const collect::Collector& collector, ledger::Snapshot& snapshot)>;

// Reads through a collector. Events are followed from the first request that asks for them.
Read collector_reader(const collect::Options& options, Complete complete = {});

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
