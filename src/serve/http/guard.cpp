// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/guard.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "serve/http/recordings_path.hpp"

namespace ttmem::serve::http {
namespace {

bool equal_names(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char left, unsigned char right) {
    return std::tolower(left) == std::tolower(right);
  });
}

}  // namespace

bool is_loopback(const std::string& address) {
  if (address == "localhost") return true;
  in_addr four{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  return ::inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  const std::size_t colon = host.find(':');
  if (colon == std::string_view::npos || host.find(':', colon + 1) != std::string_view::npos) {
    return host;
  }
  return host.substr(0, colon);
}

// The time that a refusal takes must not tell how much of a guessed token is right.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other));
  }
  return difference == 0;
}

bool Guard::is_own_name(std::string_view host) const {
  const std::string name(without_port(host));
  return is_loopback(name) || equal_names(name, "localhost") ||
         std::ranges::any_of(options_.names,
                             [&](const std::string& own) { return equal_names(name, own); });
}

bool Guard::has_token(const Request& request) const {
  constexpr std::string_view kScheme = "Bearer ";
  std::string_view given = request.authorization;
  if (options_.token.empty() || given.size() < kScheme.size() ||
      !equal_names(given.substr(0, kScheme.size()), kScheme)) {
    return false;
  }
  given.remove_prefix(kScheme.size());
  return equal_in_constant_time(given, options_.token);
}

std::optional<Response> Guard::refusal(const Request& request) const {
  if (!request.host || request.host->empty()) {
    return error(400, "send exactly one Host header, with the name of this host");
  }
  // A browser on this machine is also asked by pages of strangers: their site can let its own name
  // point to 127.0.0.1 (DNS rebinding). The browser then sends that name, which is none of ours.
  if (!request.from_loopback) {
    if (!options_.allow_remote) {
      return error(403,
                   "only requests from this machine are allowed: start the daemon with "
                   "--allow-remote and a token");
    }
  } else if (!is_own_name(*request.host)) {
    return error(421,
                 "the Host header names another host, which could be DNS rebinding: use localhost "
                 "or 127.0.0.1");
  }
  // Browsers send Origin with what a page of another site asks for; our own page has our host
  // there.
  if (request.origin && *request.origin != "http://" + *request.host &&
      *request.origin != "https://" + *request.host) {
    return error(403, "cross-origin requests are not allowed: send no Origin header");
  }
  const bool opens = opens_recording(request.method, request.path);
  // A page always says whose it is when it sends something.
  if (opens && !request.origin) {
    return error(403, "recordings are opened by the page of this daemon: send its Origin");
  }
  if (request.method != "GET" && !request.is_head() && !opens) {
    Response response = error(405, "this API is read-only: use GET or HEAD");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  // The last question, because the page asks its user for what is missing then.
  if (!request.from_loopback && !has_token(request)) {
    Response response = error(kNoToken, "send the daemon's token: Authorization: Bearer TOKEN");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  return std::nullopt;
}

void add_security_headers(Response& response) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kHeaders = {{
      {"Content-Security-Policy",
       "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  }};
  // An answer that has set one itself keeps it: files of the page may be cached.
  for (const auto& [name, value] : kHeaders) {
    const bool is_set = std::ranges::any_of(
        response.headers, [&](const auto& header) { return header.first == name; });
    if (!is_set) response.headers.emplace_back(name, value);
  }
}

}  // namespace ttmem::serve::http
