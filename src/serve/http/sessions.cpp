// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/sessions.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "serve/http/guard.hpp"

namespace ttmem::serve::http {
namespace {

using namespace std::chrono_literals;

constexpr auto kLinkTime = 60s;
constexpr auto kCookieTime = 12h;
constexpr std::size_t kMostLinks = 16, kMostCookies = 64;
constexpr std::string_view kCookie = "ttmem_session";

// The value of our cookie in "a=b; ttmem_session=c"; "" if it is not there.
std::string_view cookie_in(std::string_view header) {
  while (!header.empty()) {
    std::string_view one = header.substr(0, header.find(';'));
    header.remove_prefix(std::min(one.size() + 1, header.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(kCookie) && one.substr(kCookie.size()).starts_with('=')) {
      return one.substr(kCookie.size() + 1);
    }
  }
  return {};
}

}  // namespace

std::string random_key() {
  std::array<unsigned char, 16> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string Sessions::add(Keys& keys, std::uint32_t uid, Clock::time_point until,
                          std::size_t most) {
  std::string text = random_key();
  if (text.empty()) return text;
  if (keys.size() == most) keys.pop_back();
  keys.push_front({text, uid, until});
  return text;
}

std::string Sessions::make_link(std::uint32_t uid, Clock::time_point now) {
  const std::string key = add(links_, uid, now + kLinkTime, kMostLinks);
  return key.empty() ? key : fmt::format("{}?key={}", kEnter, key);
}

Response Sessions::enter(const Request& request, Clock::time_point now) {
  const std::string* given = request.parameter("key");
  const auto found = std::ranges::find_if(links_, [&](const Key& key) {
    return given != nullptr && equal_in_constant_time(*given, key.text);
  });
  if (found == links_.end() || found->until < now) {
    return error(403, "this link was used or is too old: `ttmem serve --open` makes a new one");
  }
  const std::uint32_t uid = found->uid;
  links_.erase(found);
  const std::string cookie = add(cookies_, uid, now + kCookieTime, kMostCookies);
  Response response;
  response.status = 303;
  response.type = "text/plain; charset=utf-8";
  response.headers.emplace_back("Location", "/");
  response.headers.emplace_back(
      "Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", kCookie, cookie));
  return response;
}

std::optional<std::uint32_t> Sessions::user_of(const Request& request,
                                               Clock::time_point now) const {
  const std::string_view given = cookie_in(request.cookie);
  if (given.empty()) return std::nullopt;
  for (const Key& key : cookies_) {
    if (equal_in_constant_time(given, key.text) && key.until >= now) return key.uid;
  }
  return std::nullopt;
}

}  // namespace ttmem::serve::http
