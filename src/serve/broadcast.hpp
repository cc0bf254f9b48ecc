// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the readers of streams are told, each kind of reader in its own way, and only what somebody
// wants is worked out. How full the cores are is told twice a second at most, and never so often
// that it takes more than a twentieth of a core.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "collect/collector.hpp"
#include "serve/http/core_levels.hpp"
#include "serve/http/deltas.hpp"
#include "serve/http/live_snapshot.hpp"
#include "serve/http_server.hpp"

namespace ttmem::serve {

class Broadcast {
 public:
  // `instance` tells this daemon from another.
  explicit Broadcast(const std::string& instance);

  void tell(HttpServer& server, http::LiveSnapshot& live, const collect::Collector& collector,
            const std::vector<ledger::EventView>& events, bool changed);
  // What a new reader gets first. Call tell() before, so that all readers are at the same point.
  std::string first(const http::StreamOptions& reader, http::LiveSnapshot& live,
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
  bool levels_old_ = true;  // something changed since they were worked out
  Clock::time_point levels_due_;
};

}  // namespace ttmem::serve
