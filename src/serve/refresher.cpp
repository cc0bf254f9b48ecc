// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/refresher.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "collect/clock.hpp"
#include "serve/viewers.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;

constexpr auto kStreamPeriod = 100ms, kLegacyPeriod = 200ms, kIdlePeriod = 1000ms;
constexpr std::uint32_t kSensorsMs = 3000;  // 32 devices cost 2 ms
constexpr int kLargestShare = 5;            // a fifth of a core
constexpr int kLeaksShare = 20;             // a twentieth of it
constexpr std::size_t kMostRecent = 1000;   // events

}  // namespace

Refresher::Refresher(history::History* history, std::optional<std::uint32_t> words_of_user)
    : history_(history),
      collector_({.events = true,
                  .host = true,
                  .sensors_every_ms = kSensorsMs,
                  .words_of_user = words_of_user,
                  .native_names = false,
                  .launches = true,
                  .reap = true}),
      broadcast_(daemon_instance()) {}

void Refresher::refresh() {
  const std::chrono::nanoseconds start = loop::thread_time();
  collector_.refresh();
  const std::vector<ledger::EventView> events = collector_.take_events();
  const bool changed = live_.take(collector_.snapshot());
  cost_ = loop::thread_time() - start;
  tell_all(events, changed);
  follow_leaks(events);
  last_ = Clock::now();
  ++counts_.refreshes;
  counts_.changes += changed ? 1 : 0;
  counts_.seconds += std::chrono::duration<double>(cost_).count();
}

void Refresher::refresh_safely() {
  try {
    refresh();
    failure_.clear();
  } catch (const std::exception& problem) {
    if (std::exchange(failure_, problem.what()) == problem.what()) return;
    news_.notice += "a look at the processes failed, and the next begins anew: " + failure_;
  }
}

void Refresher::tell_all(const std::vector<ledger::EventView>& events, bool changed) {
  if (changed) launches_.observe(collector_.snapshot());
  const std::size_t wanted = tells_events_ ? events.size() : 0;
  if (tells_original_ && (changed || wanted > 0)) {
    news_.snapshot = std::make_shared<const ledger::Snapshot>(collector_.snapshot());
    news_.events.insert(news_.events.end(), events.begin(),
                        events.begin() + static_cast<std::ptrdiff_t>(wanted));
  }
  if (history_ != nullptr) tell_history(changed);
  recent_.insert(recent_.end(), events.begin(), events.end());
  while (recent_.size() > kMostRecent) recent_.pop_front();
  broadcast_.tell(live_, collector_, events, changed, news_.texts);
}

void Refresher::tell_history(bool changed) {
  const ledger::Snapshot& snapshot = collector_.snapshot();
  const auto clocks = history::Clocks::now(snapshot.boot_id, snapshot.time);
  if (changed) history_->record(snapshot, clocks);
  history_->record(
      busy_minutes_.take(collector_.snapshot(), [this] { return collector_.programs(true); }));
  history_->tick(clocks);
  news_.notice += history_->take_notice();
}

News Refresher::take_news() { return std::exchange(news_, {}); }

// Looks at what is held once a second at most, and never so that it takes a twentieth of a core.
void Refresher::follow_leaks(const std::vector<ledger::EventView>& events) {
  leaks_.take(events);
  const ledger::Snapshot& now = collector_.snapshot();
  if (Clock::now() < leaks_due_) return;
  const std::chrono::nanoseconds start = loop::thread_time();
  leaks_.forget_the_dead(now);
  if (leaks_.is_due(now)) {
    leaks_.look(now, [this](std::uint32_t device, ledger::Space space) {
      return collector_.live_spaces(device, space);
    });
  }
  leaks_due_ = Clock::now() +
               std::max<Clock::duration>(kIdlePeriod, (loop::thread_time() - start) * kLeaksShare);
}

void Refresher::refresh_if_old() {
  if (Clock::now() - last_ >= std::max<Clock::duration>(kStreamPeriod, cost_ * kLargestShare)) {
    refresh();
  }
}

http::FirstEvents Refresher::first_events(const http::StreamOptions& reader,
                                          std::string_view last_event_id) {
  refresh_if_old();
  return broadcast_.first(reader, live_, collector_, last_event_id);
}

News take_news(Refresher& refresher, Viewers* viewers) {
  News news = refresher.take_news();
  if (viewers) viewers->add_news(news);
  return news;
}

// ---- in the loop -------------------------------------------------------------------------------

Looks::Looks(loop::Loop& loop, loop::Worker& worker, Refresher& refresher, Viewers* viewers,
             std::function<Audience()> audience, Tell tell)
    : loop_(loop),
      worker_(worker),
      refresher_(refresher),
      viewers_(viewers),
      audience_(std::move(audience)),
      tell_(std::move(tell)) {}

std::chrono::milliseconds Looks::period() const {
  const Audience audience = audience_();
  std::chrono::milliseconds wanted = kIdlePeriod;
  if (audience.has_clients) wanted = kLegacyPeriod;
  if (audience.has_streams) wanted = kStreamPeriod;
  return std::max(wanted, std::chrono::ceil<std::chrono::milliseconds>(cost_ * kLargestShare));
}

void Looks::start() {
  timer_ = loop_.after(period(), [this] { look(); });
}

void Looks::hurry() {
  if (is_looking_) return;
  loop_.cancel(timer_);
  start();
}

void Looks::look() {
  is_looking_ = true;
  worker_.add_own([this]() -> loop::Worker::Done {
    refresher_.refresh_safely();
    const auto cost = refresher_.cost() + (viewers_ ? viewers_->look() : 0ns);
    auto news = std::make_shared<News>(take_news(refresher_, viewers_));
    return [this, news, cost] {
      cost_ = cost;
      is_looking_ = false;
      start();
      tell_(std::move(*news));
    };
  });
}

}  // namespace ttmem::serve
