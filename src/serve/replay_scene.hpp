// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A recording at the moment that was asked for last, and every document of it: the answers to
// /api/v1/...?at=. One at a time, in one thread.
#pragma once

#include <deque>
#include <optional>

#include "collect/collector.hpp"
#include "ledger/event.hpp"
#include "serve/http/live_snapshot.hpp"
#include "serve/http/request.hpp"
#include "serve/http/response.hpp"
#include "serve/http/routes.hpp"
#include "serve/replay_document.hpp"

namespace ttmem::serve {

class ReplayScene {
 public:
  // `collector` is that of a recording; the study is of the same, and outlives this.
  ReplayScene(collect::Collector collector, const ReplayStudy& study);

  http::Response answer(http::Request request);

 private:
  void go_to(ledger::TimeNs time);
  void take_events();
  http::RouteSources sources();

  collect::Collector collector_;
  const ReplayStudy& study_;
  http::LiveSnapshot live_;
  std::deque<ledger::EventView> recent_;
};

}  // namespace ttmem::serve
