// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/http_client.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "fleet/connection.hpp"
#include "view/printable.hpp"

namespace ttmem::fleet {
namespace {

constexpr std::size_t kMostHeadBytes = 64 * 1024;
constexpr std::string_view kBasic = "Basic ";

bool is_of_a_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_' || c == ':';
}

// ---- the answer

struct Head {
  int status = 0;
  std::optional<std::size_t> length;
  bool chunked = false;
};

bool equal_words(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(a) == lower(b);
  });
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::size_t> whole_number(std::string_view text, int base) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<Head> parse_head(std::string_view text) {
  Head head;
  if (!text.starts_with("HTTP/1.") || text.size() < 12) return std::nullopt;
  const auto status = whole_number(text.substr(9, 3), 10);
  if (!status || *status < 100) return std::nullopt;
  head.status = static_cast<int>(*status);
  while (true) {
    const std::size_t end = text.find("\r\n");
    if (end == text.npos) return head;
    text.remove_prefix(end + 2);
    const std::string_view line = text.substr(0, text.find("\r\n"));
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (equal_words(name, "Content-Length")) head.length = whole_number(value, 10);
    if (equal_words(name, "Transfer-Encoding")) head.chunked = equal_words(value, "chunked");
  }
}

// The chunks of `text` put together; empty if it is not complete yet.
std::optional<std::string> join_chunks(std::string_view text) {
  std::string body;
  while (true) {
    const std::size_t end = text.find("\r\n");
    if (end == text.npos) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    const auto size = whole_number(trimmed(line.substr(0, line.find(';'))), 16);
    if (!size) return std::nullopt;
    if (*size == 0) return body;
    text.remove_prefix(end + 2);
    if (text.size() < 2 || *size > text.size() - 2) return std::nullopt;
    body.append(text.substr(0, *size));
    text.remove_prefix(*size + 2);
  }
}

std::string too_large(const Request& request) {
  return fmt::format("the answer has more than {} bytes: ask for less", request.most_bytes);
}

// All that the peer sends: to the end it announced, or until it closes.
Result<Answer> receive(const Connection& connection, const Request& request) {
  std::string text;
  std::optional<Head> head;
  std::size_t body = 0;
  const auto late = [&] {
    return failed(request.url, connection.is_late() ? "no answer in time" : "the connection broke");
  };
  while (true) {
    const auto count = connection.receive(text);
    if (!count) return late();
    if (!head) {
      const std::size_t end = text.find("\r\n\r\n");
      if (end != text.npos) {
        head = parse_head(std::string_view(text).substr(0, end + 2));
        body = end + 4;
      }
      const bool is_other = end != text.npos || *count == 0 || text.size() > kMostHeadBytes;
      if (!head && is_other) return failed(request.url, "it does not speak HTTP");
      if (!head) continue;
    }
    if (text.size() - body > request.most_bytes) return failed(request.url, too_large(request));
    if (head->length && *head->length > request.most_bytes) {
      return failed(request.url, too_large(request));
    }
    const bool done = head->length && text.size() - body >= *head->length;
    if (done) return Answer{head->status, text.substr(body, *head->length)};
    if (*count > 0 && !(head->chunked && text.ends_with("0\r\n\r\n"))) continue;
    if (head->length) return failed(request.url, "the connection broke");
    if (!head->chunked) return Answer{head->status, text.substr(body)};
    auto joined = join_chunks(std::string_view(text).substr(body));
    if (joined) return Answer{head->status, std::move(*joined)};
    if (*count == 0) return failed(request.url, "the connection broke");
  }
}

std::string text_of(const Request& request) {
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", request.method,
                  request.url.path.empty() ? "/" : request.url.path, request.url.authority());
  for (const auto& [name, value] : request.headers) text += fmt::format("{}: {}\r\n", name, value);
  if (request.method == "POST") text += fmt::format("Content-Length: {}\r\n", request.body.size());
  return text + "\r\n" + request.body;
}

}  // namespace

std::string Url::authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

Result<Url> parse_url(const std::string& text, std::uint16_t usual_port) {
  const auto wrong = [&](const std::string& why) {
    return Error{ErrorCode::kWrongKind, fmt::format("{}: {}", view::printable(text), why)};
  };
  std::string_view rest = text;
  Url url;
  url.secure = rest.starts_with("https://");
  if (url.secure) {
    rest.remove_prefix(8);
    usual_port = 443;
  }
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  if (rest.find("://") != rest.npos) return wrong("an address begins with http:// or https://");
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  if (url.path == "/") url.path.clear();
  std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != authority.npos) {
    return wrong("user and password do not stand in an address: use --token-file");
  }
  url.port = usual_port;
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.rfind(':');
  if (colon != authority.npos && (bracket == authority.npos || colon > bracket)) {
    const auto port = whole_number(authority.substr(colon + 1), 10);
    if (!port || *port == 0 || *port > 65535) return wrong("a port is a number up to 65535");
    url.port = static_cast<std::uint16_t>(*port);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) {
    authority = authority.substr(1, authority.size() - 2);
  }
  url.host = authority;
  if (url.host.empty() || url.host.starts_with('-') || !std::ranges::all_of(url.host, is_of_a_name))
    return wrong("that is no name of a host");
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7F; };
  if (!std::ranges::all_of(url.path, is_plain)) return wrong("an address has no spaces");
  return url;
}

Result<std::pair<std::string, std::string>> parse_header(const std::string& text) {
  const std::size_t colon = text.find(':');
  const bool is_one = text.find_first_of("\r\n") == std::string::npos;
  if (colon == std::string::npos || colon == 0 || !is_one || text.find(' ') < colon) {
    return Error{ErrorCode::kWrongKind, "a header is one line such as 'X-Scope-OrgID: team'"};
  }
  return std::pair(text.substr(0, colon), std::string(trimmed(text.substr(colon + 1))));
}

Result<std::pair<std::string, std::string>> parse_header_option(const std::string& text) {
  auto header = parse_header(text);
  if (header && equal_words(header->first, "authorization")) {
    return Error{ErrorCode::kWrongKind,
                 "everybody can read a token in a command line: write it into a file, and name "
                 "that with --token-file"};
  }
  return header;
}

Result<std::string> read_token(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: the token cannot be read from it", view::printable(path))};
  }
  std::string token(trimmed(line));
  const std::size_t word = token.starts_with(kBasic) ? kBasic.size() : 0;
  if (token.empty() || token.size() > 4096 || token.find_first_of("\r\n\t ", word) != token.npos) {
    return Error{ErrorCode::kWrongKind,
                 fmt::format("{}: a token is one word on the first line, or Basic and one",
                             view::printable(path))};
  }
  return token;
}

std::pair<std::string, std::string> authorization(const std::string& token) {
  return {"Authorization", token.starts_with(kBasic) ? token : "Bearer " + token};
}

Result<Answer> ask(const Request& request) {
  const auto connection = connect(request.url, std::chrono::steady_clock::now() + request.timeout);
  if (!connection) return connection.error();
  if (!connection->send(text_of(request))) {
    return failed(request.url,
                  connection->is_late() ? "no answer in time" : "the connection broke");
  }
  return receive(*connection, request);
}

std::string status_text(int status) {
  switch (status) {
    case 401:
      return "401: a token is wanted, or this one is not accepted (--token-file)";
    case 403:
      return "403: this is not allowed with this token";
    case 404:
      return "404: there is no such page; is the path of the address right?";
    case 429:
      return "429: it is asked too often";
    case 503:
      return "503: it is overloaded or starting";
    default:
      return fmt::format("it answers with status {}", status);
  }
}

std::string percent_encoded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace ttmem::fleet
