// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What happened up to a moment, for formats that draw time. A teller turns events into lives (of
// buffers and programs) and levels (bytes of a process on a device and space), and tells a scribe,
// who writes a format and remembers what it needs:
//
//   Storyteller teller(scribe, start);
//   for (each batch of events) teller.tell(events, holdings_after_them);
//   teller.end(ending);
//
// Whatever was there before the first event, or before the first one after a gap, is found by going
// back from what is held afterwards: so levels are exact at every event that is known.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/event.hpp"
#include "ledger/snapshot.hpp"
#include "ledger/space_picture.hpp"

namespace ttmem::exports {

// When the story begins, on both clocks of its host.
struct Beginning {
  ledger::TimeNs wall = 0;
  std::uint64_t monotonic = 0;  // 0 = not known
};

// A buffer or a program, from when it came to when it went.
struct Life {
  ledger::HoldingView holding;  // `since` is never 0
  std::uint64_t number = 0;     // 1, 2, ... in the order of the story
  bool was_there = false;       // before the first event that is known
};

// Bytes that a process takes of a space of a device, from this time on.
struct Level {
  ledger::Owner process = ledger::nobody();
  std::uint32_t device = 0;
  ledger::Space space = ledger::Space::kDram;
  std::uint64_t taken = 0;
  ledger::TimeNs time = 0;
};

// A space as it is at the end.
struct EndingSpace {
  std::uint32_t device = 0;
  ledger::LiveSpace space;
};

struct Ending {
  const ledger::Snapshot* snapshot = nullptr;
  ledger::TimeNs time = 0;
  std::vector<EndingSpace> spaces;
};

class Scribe {
 public:
  Scribe() = default;
  virtual ~Scribe() = default;
  Scribe(const Scribe&) = delete;
  Scribe& operator=(const Scribe&) = delete;

  virtual void begin(const Beginning& /*beginning*/) {}
  virtual void came(const Life& /*life*/) {}
  virtual void went(const Life& /*life*/, ledger::TimeNs /*time*/) {}
  virtual void level(const Level& /*level*/) {}
  // Every event, before what it changes is told.
  virtual void happened(const ledger::EventView& /*event*/) {}
  virtual void end(const Ending& /*ending*/) {}
  // What was left out, for people; "" = nothing.
  virtual std::string left_out() const { return ""; }
};

class Storyteller {
 public:
  Storyteller(Scribe& scribe, const Beginning& beginning);

  // Everything that is held after a batch of events, in any order.
  using Holdings = std::function<void(const std::function<void(const ledger::HoldingView&)>&)>;
  // Events after `until` help to find what was there before, and are not told.
  void tell(const std::vector<ledger::EventView>& events, const Holdings& after,
            ledger::TimeNs until = ~ledger::TimeNs{0});
  void end(const Ending& ending);

 private:
  // Process, kind, id, space, the first device.
  using Key =
      std::tuple<std::uint64_t, ledger::HoldingKind, std::uint64_t, ledger::Space, std::uint32_t>;
  using Held = std::map<Key, ledger::HoldingView>;
  struct Restart {
    std::size_t from = 0;  // the event after which the process is known again
    Held held;
  };
  static Key key_of(const ledger::HoldingView& holding);
  std::map<std::uint64_t, Restart> find_restarts(const std::vector<ledger::EventView>& events,
                                                 const Holdings& after);
  void restart(std::uint64_t process, const Held& held, ledger::TimeNs time);
  void apply(const ledger::EventView& event);
  void come(ledger::HoldingView holding, ledger::TimeNs time, bool was_there);
  void go(std::map<Key, Life>::iterator life, ledger::TimeNs time);
  void change_level(const ledger::HoldingView& holding, bool more, ledger::TimeNs time);

  Scribe& scribe_;
  Beginning beginning_;
  bool first_ = true;
  std::set<std::uint64_t> seen_;  // processes, by key
  std::map<Key, Life> lives_;
  std::uint64_t numbers_ = 0;
  std::map<std::tuple<std::uint64_t, std::uint32_t, ledger::Space>, std::uint64_t> levels_;
};

// Who was found dead told nobody when that was, only that it was after its last event: the end is
// told there, and not when somebody looked.
void place_ends(std::vector<ledger::EventView>& events, const ledger::Snapshot& snapshot);

// What an event of a buffer or a program tells of it, as a holding.
ledger::HoldingView holding_of(const ledger::EventView& event);

}  // namespace ttmem::exports
