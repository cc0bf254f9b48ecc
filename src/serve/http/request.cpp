// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/request.hpp"

#include <algorithm>

namespace ttmem::serve::http {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = digit(text[i + 1]), low = digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (is_control(c)) return std::nullopt;
    result += c;
  }
  return result;
}

bool parse_query(std::string_view text, Request& request) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    auto name = decoded(part.substr(0, equals), true);
    auto value = decoded(part.substr(std::min(equals + 1, part.size())), true);
    if (!name || !value) return false;
    request.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

}  // namespace

const std::string* Request::parameter(std::string_view name) const {
  const auto found =
      std::ranges::find(query, name, [](const auto& each) { return std::string_view(each.first); });
  return found == query.end() ? nullptr : &found->second;
}

bool parse_target(std::string_view target, Request& request) {
  if (!target.starts_with('/')) return false;
  const std::size_t question = std::min(target.find('?'), target.size());
  auto path = decoded(target.substr(0, question), false);
  if (!path) return false;
  request.path = std::move(*path);
  request.query.clear();
  return question == target.size() || parse_query(target.substr(question + 1), request);
}

bool allows_gzip(std::string accepted) {
  constexpr std::string_view kName = "gzip", kWeighted = "gzip;q=";
  std::erase(accepted, ' ');
  std::string_view rest = accepted;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one == kName) return true;
    if (one.starts_with(kWeighted)) {
      return one.find_first_of("123456789", kWeighted.size()) != std::string_view::npos;
    }
  }
  return false;
}

}  // namespace ttmem::serve::http
