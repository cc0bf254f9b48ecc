// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Many hosts, for the page of one: what the engine of `serve --fleet URL` knows of all (document
// `fleet`). It is asked when somebody looks, and not more often than its scrapes bring something.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "fleet/engine.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve {

class FleetWatch {
 public:
  explicit FleetWatch(fleet::Engine engine) : engine_(std::move(engine)) {}

  // May take as long as the engine does.
  http::Response answer();

 private:
  fleet::Engine engine_;
  std::optional<http::Response> last_;
  std::chrono::steady_clock::time_point asked_;
};

}  // namespace ttmem::serve
