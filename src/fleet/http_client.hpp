// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// HTTP/1.1: one request, one answer, one deadline for both. For what ttmem asks (a daemon, a
// Prometheus-compatible API, a receiver of metrics) that is all there is to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::fleet {

struct Url {
  std::string host;  // a name or an address, without brackets
  std::uint16_t port = 80;
  bool secure = false;  // https
  std::string path;     // with its query; "" or begins with /

  std::string authority() const;  // "host:port", as Host: wants it
  std::string text() const { return (secure ? "https://" : "http://") + authority() + path; }
};

// "http://host:9090/prefix", "host:7171". `usual_port` where none is named,
// 443 of https.
Result<Url> parse_url(const std::string& text, std::uint16_t usual_port);

using Headers = std::vector<std::pair<std::string, std::string>>;

// "Name: value"; an error if it is no header, or would be two.
Result<std::pair<std::string, std::string>> parse_header(const std::string& text);

// The same of a command line, where everybody could read a token: `Authorization` is refused.
Result<std::pair<std::string, std::string>> parse_header_option(const std::string& text);

// The first line of a file, without spaces around it: one word, or "Basic " and one.
Result<std::string> read_token(const std::string& path);

// The header that hands over such a token. A word is a bearer's.
std::pair<std::string, std::string> authorization(const std::string& token);

struct Request {
  std::string method = "GET";
  Url url;
  Headers headers;
  std::string body;  // sent if the method is POST
  std::chrono::milliseconds timeout{5000};
  std::size_t most_bytes = 32u << 20;  // of the answer
};

struct Answer {
  int status = 0;
  std::string body;
};

// An error if nobody answers, in time, in HTTP. Every status is an answer.
Result<Answer> ask(const Request& request);

// What went wrong, for people: "401 Unauthorized: the token is not accepted", from the status.
std::string status_text(int status);

// As in a query string or a form.
std::string percent_encoded(const std::string& text);

}  // namespace ttmem::fleet
