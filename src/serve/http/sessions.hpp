// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How a browser proves whose it is. Somebody who is known (over the UNIX socket, or who started the
// daemon) gets a link that works once and soon; whoever opens it gets a cookie, which stands for
// that user from then on.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve::http {

// The path of a link: /enter?key=...
inline constexpr std::string_view kEnter = "/enter";

class Sessions {
 public:
  using Clock = std::chrono::steady_clock;

  // "/enter?key=..." for this user; "" if the system gives no random numbers.
  std::string make_link(std::uint32_t uid, Clock::time_point now);
  // The answer to a link: on to the page with a cookie, or a refusal.
  Response enter(const Request& request, Clock::time_point now);
  // Whose cookie the request has.
  std::optional<std::uint32_t> user_of(const Request& request, Clock::time_point now) const;

 private:
  struct Key {
    std::string text;
    std::uint32_t uid = 0;
    Clock::time_point until;
  };
  using Keys = std::list<Key>;  // the newest first
  static std::string add(Keys& keys, std::uint32_t uid, Clock::time_point until, std::size_t most);

  Keys links_, cookies_;
};

// 128 random bits in hexadecimal; "" if there are none.
std::string random_key();

}  // namespace ttmem::serve::http
