// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collect/collector.hpp"
#include "ledger/event.hpp"
#include "serve/http/deltas.hpp"
#include "serve/http/live_snapshot.hpp"
#include "serve/http/packed_texts.hpp"
#include "serve/http/readers.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve {

using StreamTexts = std::vector<std::pair<http::Channel, http::StreamText>>;

// Tells this daemon from another.
std::string daemon_instance();

// What the readers of streams are told, each kind of reader in its own way, and only what somebody
// wants is worked out. How full the cores are is told twice a second at most, and never so often
// that it takes more than a twentieth of a core.
class Broadcast {
 public:
  // `instance` tells its messages from those of another. `audience`: who its readers are.
  explicit Broadcast(const std::string& instance, std::uint32_t audience = http::kOwnUser);

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

  std::uint32_t audience_;
  http::Readers readers_;
  http::PackedTexts packed_;
  http::Deltas full_, brief_;
  http::CoreLevels levels_;
  http::SharedText all_levels_;  // for new readers; null = they changed
  bool levels_old_ = true;       // something changed since they were worked out
  Clock::time_point levels_due_;
};

}  // namespace ttmem::serve
