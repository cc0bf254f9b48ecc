// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What those see who are not the daemon's own user. The daemon itself reads the words of its own
// user alone; for another who has proved who they are it reads theirs instead, and for everybody
// else none, in a collector of their own. So there is no place where words of others could slip
// through: they were not read. What the daemon remembers (the log, leaks) it read with the words of
// its own user: those are taken out.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "serve/http/request.hpp"
#include "serve/http/response.hpp"
#include "serve/http/routes.hpp"
#include "serve/refresher.hpp"

namespace ttmem::serve {

class Viewers {
 public:
  // Whose words are told; empty = everybody's.
  using Words = std::optional<std::uint32_t>;

  // The words of no user.
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  // What is the same for everybody (history, metrics, health) is taken from `shared`.
  explicit Viewers(http::RouteSources shared);
  ~Viewers();

  // Of at most four of them streams are open at a time.
  http::Response answer(const http::Request& request, Words words);
  // Reads again for those who have streams; how long that took on a core.
  std::chrono::nanoseconds look();
  // What is to be told in the loop since the last call.
  void add_news(News& news);
  // Lets go of those who have not asked for a while.
  void forget_idle();

 private:
  struct Viewer;
  Viewer& viewer(Words words);
  void forget_one();

  http::RouteSources shared_;
  News news_;
  std::uint32_t last_number_ = http::kOwnUser;
  std::list<std::unique_ptr<Viewer>> viewers_;  // who asked last comes first
};

}  // namespace ttmem::serve
