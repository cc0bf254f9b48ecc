// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/refresher.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "collect/clock.hpp"
#include "serve/daemon_process.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;

constexpr auto kStreamPeriod = 100ms, kLegacyPeriod = 200ms, kIdlePeriod = 1000ms;
constexpr std::uint32_t kSensorsMs = 3000;  // 32 devices cost 2 ms
constexpr int kLargestShare = 5;            // a fifth of a core
constexpr std::size_t kMostRecent = 1000;   // events

}  // namespace

Refresher::Refresher(loop::Loop& loop, history::History* history,
                     std::optional<std::uint32_t> words_of_user)
    : loop_(loop),
      history_(history),
      collector_({.events = true,
                  .host = true,
                  .sensors_every_ms = kSensorsMs,
                  .words_of_user = words_of_user,
                  .native_names = false,
                  .launches = true,
                  .reap = true}),
      broadcast_(fmt::format("{:x}-{:x}", collect::Moment::now().wall_ns, ::getpid())) {}

std::chrono::milliseconds Refresher::period() const {
  std::chrono::milliseconds wanted = kIdlePeriod;
  if (legacy_ != nullptr && legacy_->socket().connections() > 0) wanted = kLegacyPeriod;
  if (server_ != nullptr && server_->streams() > 0) wanted = kStreamPeriod;
  return std::max(wanted, std::chrono::ceil<std::chrono::milliseconds>(cost_ * kLargestShare));
}

void Refresher::start() {
  timer_ = loop_.after(period(), [this] { turn(); });
}

void Refresher::turn() {
  refresh();
  start();
}

void Refresher::refresh() {
  const std::chrono::nanoseconds start = thread_time();
  collector_.refresh();
  const std::vector<ledger::EventView> events = collector_.take_events();
  const bool changed = live_.take(collector_.snapshot());
  cost_ = thread_time() - start;
  tell_all(events, changed);
  last_ = Clock::now();
  ++counts_.refreshes;
  counts_.changes += changed ? 1 : 0;
  counts_.seconds += std::chrono::duration<double>(cost_).count();
}

void Refresher::tell_all(const std::vector<ledger::EventView>& events, bool changed) {
  if (changed) launches_.observe(collector_.snapshot());
  if (legacy_ != nullptr) {
    if (changed) legacy_->observe(collector_.snapshot());
    if (!events.empty()) legacy_->tell(events, collector_.snapshot());
  }
  if (history_ != nullptr) {
    if (changed) history_->record(collector_.snapshot(), collector_.snapshot().time);
    history_->record(
        busy_minutes_.take(collector_.snapshot(), [this] { return collector_.programs(true); }));
    history_->tick(collector_.snapshot().time);
  }
  recent_.insert(recent_.end(), events.begin(), events.end());
  while (recent_.size() > kMostRecent) recent_.pop_front();
  if (server_ != nullptr) broadcast_.tell(*server_, live_, collector_, events, changed);
}

void Refresher::refresh_if_old() {
  if (Clock::now() - last_ >= std::max<Clock::duration>(kStreamPeriod, cost_ * kLargestShare)) {
    refresh();
  }
}

http::FirstEvents Refresher::first_events(const http::StreamOptions& reader,
                                          std::string_view last_event_id) {
  refresh_if_old();
  if (server_->streams() == 0) {  // the timer still waits for a second
    loop_.cancel(timer_);
    timer_ = loop_.after(kStreamPeriod, [this] { turn(); });
  }
  return broadcast_.first(reader, live_, collector_, last_event_id);
}

}  // namespace ttmem::serve
