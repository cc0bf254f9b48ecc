// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/broadcast.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "collect/clock.hpp"
#include "loop/loop.hpp"
#include "serve/http/gzip.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;
using http::Channel;
using view::json::ProcessDetail;

constexpr auto kLevelsPeriod = 500ms;
constexpr int kLevelsShare = 20;  // a twentieth of a core

}  // namespace

std::string daemon_instance() {
  static const std::string kInstance =
      fmt::format("{:x}-{:x}", collect::Moment::now().wall_ns, ::getpid());
  return kInstance;
}

Broadcast::Broadcast(const std::string& instance, std::uint32_t audience)
    : audience_(audience),
      full_(instance, ProcessDetail::kFull),
      brief_(instance + "b", ProcessDetail::kBrief) {}

void Broadcast::rest() {
  full_.rest();
  brief_.rest();
  levels_.forget();
  all_levels_.reset();
  levels_due_ = {};
}

void Broadcast::add(Channel channel, http::SharedText text, StreamTexts& texts) const {
  http::SharedText packed;
  if (readers_.any_packed()) packed = std::make_shared<const std::string>(http::gzip_piece(*text));
  texts.emplace_back(channel, http::StreamText{std::move(text), std::move(packed), audience_});
}

void Broadcast::tell_changes(http::LiveSnapshot& live, http::Deltas& deltas,
                             const std::vector<ledger::EventView>& events, Channel changes,
                             Channel happened, StreamTexts& texts) {
  if (!readers_.any(changes)) return deltas.rest();
  http::Deltas::Step step = deltas.step(live, events, readers_.any(happened));
  if (step.changes) add(changes, std::move(step.changes), texts);
  if (step.events) add(happened, std::move(step.events), texts);
}

void Broadcast::tell(http::LiveSnapshot& live, const collect::Collector& collector,
                     const std::vector<ledger::EventView>& events, bool changed,
                     StreamTexts& texts) {
  if (!readers_.any()) return rest();
  if (changed || !events.empty()) {
    tell_changes(live, full_, events, Channel::kChanges, Channel::kEvents, texts);
    tell_changes(live, brief_, events, Channel::kBriefChanges, Channel::kBriefEvents, texts);
  }
  tell_levels(collector, changed, texts);
}

std::string Broadcast::levels(const collect::Collector& collector) {
  const auto begin = loop::thread_time();
  std::string text = levels_.step(collector);
  const auto pause =
      std::max<Clock::duration>(kLevelsPeriod, (loop::thread_time() - begin) * kLevelsShare);
  levels_due_ = Clock::now() + pause;
  levels_old_ = false;
  all_levels_.reset();
  return text;
}

void Broadcast::tell_levels(const collect::Collector& collector, bool changed, StreamTexts& texts) {
  levels_old_ = levels_old_ || changed;
  if (!levels_old_ || Clock::now() < levels_due_ || !readers_.any(Channel::kCores)) return;
  std::string text = levels(collector);
  if (!text.empty()) {
    add(Channel::kCores, std::make_shared<const std::string>(std::move(text)), texts);
  }
}

http::FirstEvents Broadcast::first(const http::StreamOptions& reader, http::LiveSnapshot& live,
                                   const collect::Collector& collector,
                                   std::string_view last_event_id) {
  http::Deltas& deltas = reader.brief ? brief_ : full_;
  http::FirstEvents events = deltas.first(live, last_event_id, reader.events);
  if (reader.cores) {
    if (levels_due_ == Clock::time_point{}) levels(collector);
    if (!all_levels_) {
      all_levels_ = std::make_shared<const std::string>(levels_.all(collector.snapshot()));
    }
    events.rest.push_back(all_levels_);
  }
  if (reader.gzip) {
    events.start = http::gzip_head() + http::gzip_piece(events.start);
    for (http::SharedText& text : events.rest) text = packed_.of(text);
  }
  events.reader = readers_.join(reader);
  return events;
}

}  // namespace ttmem::serve
