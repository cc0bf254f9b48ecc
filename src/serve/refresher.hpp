// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// When the sources are read, and who is told. Ten times a second while a stream is open, five times
// while a client of the original is connected, else once; never so often that reading takes more
// than a fifth of a core. A question whose answer would be older than 100 ms reads first.
//
// Reading and what is worked out of it is done by the worker; what follows, the news, is told in
// the loop, where the sockets are.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/collector.hpp"
#include "explain/leak_follower.hpp"
#include "loop/loop.hpp"
#include "loop/worker.hpp"
#include "serve/broadcast.hpp"
#include "serve/history/busy_minutes.hpp"
#include "serve/history/history.hpp"
#include "serve/http/live_snapshot.hpp"
#include "view/metrics.hpp"

namespace ttmem::serve {

class Viewers;

// What is to be told in the loop.
struct News {
  StreamTexts texts;
  // For the clients of the original, if there is something new; empty for a daemon without.
  std::shared_ptr<const ledger::Snapshot> snapshot;
  std::vector<ledger::EventView> events;
  std::string notice;  // for the log; "" = none
};

// All of it is used by the worker alone, once that has begun.
class Refresher {
 public:
  // The history outlives it and may be null.
  // `words_of_user` as in collect::Options.
  Refresher(history::History* history, std::optional<std::uint32_t> words_of_user);

  // From now on the news have snapshots, and events if they are wanted.
  void tell_original(bool with_events) {
    tells_original_ = true;
    tells_events_ = with_events;
  }

  void refresh();
  // One that fails, for want of memory say, is told once in the news; the next begins anew.
  void refresh_safely();
  void refresh_if_old();
  // Reads, tells all readers of streams, and gives what a new one gets first.
  http::FirstEvents first_events(const http::StreamOptions& reader, std::string_view last_event_id);
  // Those of the readings since the last call.
  News take_news();
  // The last events, at most 1,000, the oldest first.
  const std::deque<ledger::EventView>& recent() const { return recent_; }

  const collect::Collector& collector() const { return collector_; }
  const ledger::Snapshot& snapshot() const { return collector_.snapshot(); }
  http::LiveSnapshot& live() { return live_; }
  view::CounterMemory& launches() { return launches_; }
  // What grows from step to step, of the living.
  explain::LeakReport leaks() const { return leaks_.report(); }

  struct Counts {
    std::uint64_t refreshes = 0;
    std::uint64_t changes = 0;  // refreshes that brought something new
    double seconds = 0;         // spent in them
  };
  const Counts& counts() const { return counts_; }
  // Time on a core of the last reading.
  std::chrono::nanoseconds cost() const { return cost_; }

 private:
  using Clock = std::chrono::steady_clock;

  void tell_all(const std::vector<ledger::EventView>& events, bool changed);
  void tell_history(bool changed);
  void follow_leaks(const std::vector<ledger::EventView>& events);

  history::History* history_;
  bool tells_original_ = false, tells_events_ = false;
  collect::Collector collector_;
  http::LiveSnapshot live_;
  Broadcast broadcast_;
  std::deque<ledger::EventView> recent_;
  view::CounterMemory launches_;
  history::BusyMinutes busy_minutes_;
  News news_;
  std::string failure_;  // of the last reading
  explain::LeakFollower leaks_;
  Clock::time_point leaks_due_;
  Counts counts_;
  Clock::time_point last_;
  std::chrono::nanoseconds cost_{};
};

// Those of both; `viewers` may be null.
News take_news(Refresher& refresher, Viewers* viewers);

// Reads again and again, in the loop's time.
class Looks {
 public:
  struct Audience {
    bool has_streams = false, has_clients = false;
  };
  using Tell = std::function<void(News&&)>;

  // Everything outlives it; `viewers` may be null. `audience` and `tell` are called in the loop.
  Looks(loop::Loop& loop, loop::Worker& worker, Refresher& refresher, Viewers* viewers,
        std::function<Audience()> audience, Tell tell);

  void start();
  // Somebody wants to see every change from now on.
  void hurry();

 private:
  void look();
  std::chrono::milliseconds period() const;

  loop::Loop& loop_;
  loop::Worker& worker_;
  Refresher& refresher_;
  Viewers* viewers_;
  std::function<Audience()> audience_;
  Tell tell_;
  std::chrono::nanoseconds cost_{};
  loop::Loop::TimerId timer_ = 0;
  bool is_looking_ = false;
};

}  // namespace ttmem::serve
