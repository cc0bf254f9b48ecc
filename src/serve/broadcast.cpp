// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <memory>

#include "serve/daemon_process.hpp"
#include "serve/refresher.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;
using http::Channel;
using view::json::ProcessDetail;

constexpr auto kLevelsPeriod = 500ms;
constexpr int kLevelsShare = 20;  // a twentieth of a core

}  // namespace

Broadcast::Broadcast(const std::string& instance)
    : full_(instance, ProcessDetail::kFull), brief_(instance + "b", ProcessDetail::kBrief) {}

void Broadcast::rest() {
  full_.rest();
  brief_.rest();
  levels_.forget();
  all_levels_.reset();
  levels_due_ = {};
}

void Broadcast::tell_changes(HttpServer& server, http::LiveSnapshot& live, http::Deltas& deltas,
                             const std::vector<ledger::EventView>& events, Channel changes,
                             Channel happened) {
  if (!server.has_readers(changes)) return deltas.rest();
  const http::Deltas::Step step = deltas.step(live, events, server.has_readers(happened));
  if (step.changes) server.publish(changes, step.changes);
  if (step.events) server.publish(happened, step.events);
}

void Broadcast::tell(HttpServer& server, http::LiveSnapshot& live,
                     const collect::Collector& collector,
                     const std::vector<ledger::EventView>& events, bool changed) {
  if (server.streams() == 0) return rest();
  if (changed || !events.empty()) {
    tell_changes(server, live, full_, events, Channel::kChanges, Channel::kEvents);
    tell_changes(server, live, brief_, events, Channel::kBriefChanges, Channel::kBriefEvents);
  }
  tell_levels(server, collector, changed);
}

std::string Broadcast::levels(const collect::Collector& collector) {
  const auto begin = thread_time();
  std::string text = levels_.step(collector);
  const auto pause =
      std::max<Clock::duration>(kLevelsPeriod, (thread_time() - begin) * kLevelsShare);
  levels_due_ = Clock::now() + pause;
  levels_old_ = false;
  all_levels_.reset();
  return text;
}

void Broadcast::tell_levels(HttpServer& server, const collect::Collector& collector, bool changed) {
  levels_old_ = levels_old_ || changed;
  if (!levels_old_ || Clock::now() < levels_due_ || !server.has_readers(Channel::kCores)) return;
  std::string text = levels(collector);
  if (!text.empty()) {
    server.publish(Channel::kCores, std::make_shared<const std::string>(std::move(text)));
  }
}

http::FirstEvents Broadcast::first(const http::StreamOptions& reader, http::LiveSnapshot& live,
                                   const collect::Collector& collector,
                                   std::string_view last_event_id) {
  http::Deltas& deltas = reader.brief ? brief_ : full_;
  http::FirstEvents events = deltas.first(live, last_event_id, reader.events);
  if (!reader.cores) return events;
  if (levels_due_ == Clock::time_point{}) levels(collector);
  if (!all_levels_) {
    all_levels_ = std::make_shared<const std::string>(levels_.all(collector.snapshot()));
  }
  events.rest.push_back(all_levels_);
  return events;
}

}  // namespace ttmem::serve
