// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Who may ask. A page in a browser on this machine can send requests to loopback addresses too, so
// being local is not enough: the name it was asked by must be ours (DNS rebinding), and if a page
// asks, the page must be ours as well. From elsewhere nothing is answered without the token.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve::http {

inline constexpr unsigned kNoToken = 401;  // everything else is right with the request

struct GuardOptions {
  std::vector<std::string> names;  // of this host, beside the loopback ones
  bool allow_remote = false;
  std::string token;  // "" = none: then nobody from elsewhere is let in
};

class Guard {
 public:
  explicit Guard(GuardOptions options) : options_(std::move(options)) {}

  // Why this request is not answered; nothing if it may pass.
  std::optional<Response> refusal(const Request& request) const;
  // Whether it brings the administrator's token: who has that sees everything.
  bool has_token(const Request& request) const;

 private:
  bool is_own_name(std::string_view host) const;

  GuardOptions options_;
};

// What every answer tells a browser: run and load nothing but what comes from here, and keep
// nothing, unless the answer itself says otherwise.
void add_security_headers(Response& response);

bool is_loopback(const std::string& address);
// "[::1]:7171" and "::1" become "::1", "localhost:7171" becomes "localhost".
std::string_view without_port(std::string_view host);
// Takes as long for a wrong token as for the right one.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace ttmem::serve::http
