// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/fleet_watch.hpp"

#include "collect/clock.hpp"
#include "fleet/ask_engine.hpp"
#include "fleet/fleet_text.hpp"

namespace ttmem::serve {
namespace {

constexpr auto kEngineFresh = std::chrono::seconds(5);

}  // namespace

http::Response FleetWatch::answer() {
  const auto now = std::chrono::steady_clock::now();
  if (last_ && now - asked_ < kEngineFresh) return *last_;
  fleet::EngineQuestion question;
  question.now_ns = collect::Moment::now().wall_ns;
  const auto found = fleet::ask_fleet(engine_, question);
  last_ = found ? http::json(fleet::fleet_json(*found)) : http::error(502, found.error().message);
  asked_ = std::chrono::steady_clock::now();
  return *last_;
}

}  // namespace ttmem::serve
