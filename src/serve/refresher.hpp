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
#include <utility>
#include <vector>

#include "collect/collector.hpp"
#include "explain/leak_follower.hpp"
#include "loop/loop.hpp"
#include "loop/worker.hpp"
#include "serve/history/busy_minutes.hpp"
#include "serve/history/history.hpp"
#include "serve/http/deltas.hpp"
#include "serve/http/live_snapshot.hpp"
#include "serve/http/packed_texts.hpp"
#include "serve/http/readers.hpp"
#include "view/metrics.hpp"

namespace ttmem::serve {

using StreamTexts = std::vector<std::pair<http::Channel, http::StreamText>>;

// What the readers of streams are told, each kind of reader in its own way, and only what somebody
// wants is worked out. How full the cores are is told twice a second at most, and never so often
// that it takes more than a twentieth of a core.
class Broadcast {
 public:
  // `instance` tells this daemon from another.
  explicit Broadcast(const std::string& instance);

  // Adds what is to be told to `texts`.
  void tell(http::LiveSnapshot& live, const collect::Collector& collector,
            const std::vector<ledger::EventView>& events, bool changed, StreamTexts& texts);
  // What a new reader gets first; it is counted from now on. Call tell() before, so that all
  // readers are at the same point.
  http::FirstEvents first(const http::StreamOptions& reader, http::LiveSnapshot& live,
                          const collect::Collector& collector, std::string_view last_event_id);

  const http::Readers& readers() const { return readers_; }

 private:
  using Clock = std::chrono::steady_clock;

  void rest();
  void tell_changes(http::LiveSnapshot& live, http::Deltas& deltas,
                    const std::vector<ledger::EventView>& events, http::Channel changes,
                    http::Channel happened, StreamTexts& texts);
  std::string levels(const collect::Collector& collector);
  void tell_levels(const collect::Collector& collector, bool changed, StreamTexts& texts);
  void add(http::Channel channel, http::SharedText text, StreamTexts& texts) const;

  http::Readers readers_;
  http::PackedTexts packed_;
  http::Deltas full_, brief_;
  http::CoreLevels levels_;
  http::SharedText all_levels_;  // for new readers; null = they changed
  bool levels_old_ = true;       // something changed since they were worked out
  Clock::time_point levels_due_;
};

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
  const http::Readers& readers() const { return broadcast_.readers(); }
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

// Reads again and again, in the loop's time.
class Looks {
 public:
  struct Audience {
    bool has_streams = false, has_clients = false;
  };
  using Tell = std::function<void(News&&)>;

  // Everything outlives it. `audience` and `tell` are called in the loop.
  Looks(loop::Loop& loop, loop::Worker& worker, Refresher& refresher,
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
  std::function<Audience()> audience_;
  Tell tell_;
  std::chrono::nanoseconds cost_{};
  loop::Loop::TimerId timer_ = 0;
  bool is_looking_ = false;
};

}  // namespace ttmem::serve
