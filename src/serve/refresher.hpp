// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// When the sources are read, and who is told. Ten times a second while a stream is open, five times
// while a client of the original is connected, else once; never so often that reading takes more
// than a fifth of a core. A question whose answer would be older than 100 ms reads first.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "collect/collector.hpp"
#include "legacy/server.hpp"
#include "loop/loop.hpp"
#include "serve/history/busy_minutes.hpp"
#include "serve/history/history.hpp"
#include "serve/http/deltas.hpp"
#include "serve/http/live_snapshot.hpp"
#include "serve/http_server.hpp"
#include "view/metrics.hpp"

namespace ttmem::serve {

// What the readers of streams are told, each kind of reader in its own way, and only what somebody
// wants is worked out. How full the cores are is told twice a second at most, and never so often
// that it takes more than a twentieth of a core.
class Broadcast {
 public:
  // `instance` tells this daemon from another.
  explicit Broadcast(const std::string& instance);

  void tell(HttpServer& server, http::LiveSnapshot& live, const collect::Collector& collector,
            const std::vector<ledger::EventView>& events, bool changed);
  // What a new reader gets first. Call tell() before, so that all readers are at the same point.
  http::FirstEvents first(const http::StreamOptions& reader, http::LiveSnapshot& live,
                          const collect::Collector& collector, std::string_view last_event_id);
  // Nobody listens.
  void rest();

 private:
  using Clock = std::chrono::steady_clock;

  static void tell_changes(HttpServer& server, http::LiveSnapshot& live, http::Deltas& deltas,
                           const std::vector<ledger::EventView>& events, http::Channel changes,
                           http::Channel happened);
  std::string levels(const collect::Collector& collector);
  void tell_levels(HttpServer& server, const collect::Collector& collector, bool changed);

  http::Deltas full_, brief_;
  http::CoreLevels levels_;
  http::SharedText all_levels_;  // for new readers; null = they changed
  bool levels_old_ = true;       // something changed since they were worked out
  Clock::time_point levels_due_;
};

class Refresher {
 public:
  // Loop and history outlive it; `history` may be null.
  // `words_of_user` as in collect::Options.
  Refresher(loop::Loop& loop, history::History* history,
            std::optional<std::uint32_t> words_of_user);

  // Who is told from now on; they outlive it.
  void publish_to(HttpServer& server) { server_ = &server; }
  void tell(legacy::Server& legacy) { legacy_ = &legacy; }
  // Reads again and again from now on.
  void start();

  void refresh();
  void refresh_if_old();
  // Reads, tells all readers of streams, and gives what a new one gets first.
  http::FirstEvents first_events(const http::StreamOptions& reader, std::string_view last_event_id);
  // The last events, at most 1,000, the oldest first.
  const std::deque<ledger::EventView>& recent() const { return recent_; }

  const collect::Collector& collector() const { return collector_; }
  const ledger::Snapshot& snapshot() const { return collector_.snapshot(); }
  http::LiveSnapshot& live() { return live_; }
  view::CounterMemory& launches() { return launches_; }

  struct Counts {
    std::uint64_t refreshes = 0;
    std::uint64_t changes = 0;  // refreshes that brought something new
    double seconds = 0;         // spent in them
  };
  const Counts& counts() const { return counts_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds period() const;
  void turn();
  void tell_all(const std::vector<ledger::EventView>& events, bool changed);

  loop::Loop& loop_;
  history::History* history_;
  HttpServer* server_ = nullptr;
  legacy::Server* legacy_ = nullptr;
  collect::Collector collector_;
  http::LiveSnapshot live_;
  Broadcast broadcast_;
  std::deque<ledger::EventView> recent_;
  view::CounterMemory launches_;
  history::BusyMinutes busy_minutes_;
  Counts counts_;
  Clock::time_point last_;
  std::chrono::nanoseconds cost_{};  // time on a core of the last reading
  loop::Loop::TimerId timer_ = 0;
};

}  // namespace ttmem::serve
