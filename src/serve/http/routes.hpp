// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which path gives which document (docs/http.md, docs/openapi.yaml). Asking changes nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "collect/collector.hpp"
#include "explain/leaks.hpp"
#include "ledger/event.hpp"
#include "serve/history/history.hpp"
#include "serve/http/live_snapshot.hpp"
#include "serve/http/request.hpp"
#include "serve/http/response.hpp"
#include "view/answer_shares.hpp"
#include "view/metrics.hpp"
#include "view/selection.hpp"

namespace ttmem::serve::http {

// What the answers are made from; all of it outlives the routes.
struct RouteSources {
  LiveSnapshot& live;
  const collect::Collector& collector;
  history::History* history = nullptr;  // null: off
  // Brings the first two up to date, unless they are already.
  std::function<void()> refresh;
  // Which series a scraper chose; empty: those of the settings.
  std::function<std::string(const std::optional<view::MetricsOptions>& chosen)> metrics;
  // The first bytes of a stream of events, for a reader that saw this id last.
  std::function<FirstEvents(const StreamOptions& reader, const std::string& last_event_id)>
      first_events;
  std::function<std::deque<ledger::EventView>()> recent_events;
  // The document of what is recorded all the time.
  std::function<std::string()> recordings;
  std::function<view::SelfFigures()> self;
  std::function<explain::LeakReport()> leaks;
  std::string engine;  // address of the Prometheus server of the fleet; "" = none is known
  std::uint32_t audience = kOwnUser;  // of streams
};

// Whether an answer may have words of programs in it; every other is the same for everybody.
bool may_have_words(const std::string& path);

class Routes {
 public:
  explicit Routes(RouteSources sources) : sources_(std::move(sources)) {}

  Response answer(const Request& request);

 private:
  std::optional<Response> select(const Request& request, view::Selection& selection) const;
  view::AnswerShares fair_shares() const;
  Response api(const Request& request, const std::string& name);
  Response metrics(const Request& request);
  Response processes(const Request& request);
  Response jobs(const Request& request);
  Response device(const Request& request, const std::string& rest);
  Response cores(const Request& request, const ledger::DeviceView& device);
  Response banks(const ledger::DeviceView& device);
  Response rings(const ledger::DeviceView& device);
  Response programs(const Request& request);
  Response launches(const Request& request, const std::string& rest);
  Response origins(const Request& request);
  Response history(const Request& request, bool runs);
  Response busy_programs(const Request& request);
  Response failures(const Request& request);
  Response explain(const Request& request);
  Response leaks();
  Response log();
  Response recording();
  Response events(const Request& request);
  Response health();

  RouteSources sources_;
};

// /api/v1/holdings: millions of things, a page at a time. A page is of the moment it is asked for;
// the cursor knows of which state it is, so a page says when the one before was of another.
// Parameters: limit, cursor, pid, process, device, kind, space. `generation` names the state.
Response holdings_page(const Request& request, const collect::Collector& collector,
                       std::uint64_t generation);

}  // namespace ttmem::serve::http
