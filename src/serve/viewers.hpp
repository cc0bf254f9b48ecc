// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What those see who have proved who they are. The daemon itself reads only the words that it may
// tell anybody; for a user who is known it reads their own as well, in a collector of their own. So
// there is no place where words of others could slip through: they were not read.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "serve/http/request.hpp"
#include "serve/http/response.hpp"
#include "serve/http/routes.hpp"

namespace ttmem::serve {

class Viewers {
 public:
  // Whose words are told; empty = everybody's.
  using Words = std::optional<std::uint32_t>;

  // What is the same for everybody (history, metrics, health) is taken from `shared`.
  explicit Viewers(http::RouteSources shared);
  ~Viewers();

  http::Response answer(const http::Request& request, Words words);
  // Lets go of those who have not asked for a while.
  void forget_idle();

 private:
  struct Viewer;
  Viewer& viewer(Words words);

  http::RouteSources shared_;
  std::list<std::unique_ptr<Viewer>> viewers_;  // who asked last comes first
};

}  // namespace ttmem::serve
