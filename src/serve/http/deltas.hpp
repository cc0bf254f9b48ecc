// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the readers of /api/v1/events are sent: the snapshot first, then only fields that changed,
// and every event if anybody wants them. Each message has a number; a reader that lost its
// connection says the last one it saw and gets what it missed, or the snapshot again where that is
// no longer known.
//
//   id: 18f3a2-7          <start of this daemon>-<number>
//   event: delta          snapshot, delta or event
//   data: {...}           one line of JSON
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/collector.hpp"
#include "ledger/event.hpp"
#include "serve/http/live_snapshot.hpp"
#include "serve/http/response.hpp"
#include "view/json_values.hpp"

namespace ttmem::serve::http {

// How full every core of the host is, coarsely, for whoever draws all chips at once: one character
// per core, row by row, and only of devices where one changed. docs/http.md has the characters:
// "A" for nothing, then by 62nds of what can be used; "." where no worker is, or its L1 not known.
char level_of(const ledger::CoreUse& core);

class CoreLevels {
 public:
  // A message with every device that differs from the last call; "" if none does.
  std::string step(const collect::Collector& collector);
  // A message with every device as of the last call; "" if there is none.
  std::string all(const ledger::Snapshot& frame) const;
  void forget() { devices_.clear(); }

 private:
  struct Grid {
    std::uint32_t columns = 0, rows = 0;
    std::string levels;
    bool operator==(const Grid&) const = default;
  };
  using Grids = std::map<std::uint32_t, Grid>;  // by id of the device

  static Grid grid_of(const std::vector<ledger::CoreUse>& cores);
  static std::string message(const Grids& grids, const ledger::Snapshot& frame);

  Grids devices_;
};

class Deltas {
 public:
  // `instance` tells the numbers of this daemon from those of another. `detail` is that of the
  // processes.
  Deltas(std::string instance, view::json::ProcessDetail detail);
  ~Deltas();

  // Nobody listens any more: nothing is remembered, and the next reader starts with a snapshot.
  void rest();
  // What changed since the last call, and these events, as text for all readers; null if nothing.
  struct Step {
    std::shared_ptr<const std::string> changes, events;
  };
  Step step(const LiveSnapshot& live, const std::vector<ledger::EventView>& events,
            bool events_wanted);
  // What a new reader gets first. Call step() before, so that all readers are at the same point.
  // Whoever comes at the same time shares the same texts.
  FirstEvents first(LiveSnapshot& live, std::string_view last_event_id, bool wants_events);

 private:
  struct Told;
  struct Message {
    std::uint64_t number = 0;
    bool is_event = false;
    SharedText text;
  };
  std::string add(std::string_view event, const std::string& data);
  std::string add_events(const std::vector<ledger::EventView>& events);
  std::string delta(const LiveSnapshot& live);
  std::optional<std::vector<SharedText>> missed(std::string_view last_event_id,
                                                bool wants_events) const;

  std::string instance_;
  view::json::ProcessDetail detail_;
  std::unique_ptr<Told> told_;  // null = nobody listens
  std::uint64_t number_ = 0;
  // From this number on no event is missing; nothing: nobody wants them.
  std::optional<std::uint64_t> events_since_;
  std::deque<Message> messages_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace ttmem::serve::http
