// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What somebody asks over HTTP, as far as the daemon looks at it, and how bytes become such a
// request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttmem::serve::http {

struct Request {
  std::string method;  // "GET"
  std::string path;    // decoded, without the question mark and what follows
  std::vector<std::pair<std::string, std::string>> query;           // decoded, in order
  std::optional<std::string> host, origin;                          // headers; empty = not there
  std::string authorization, cookie, last_event_id, if_none_match;  // "" = not there
  std::string body;  // of a POST that may have one (recordings_path.hpp)
  bool takes_gzip = false;
  bool keep_alive = true;
  bool from_loopback = true;
  std::optional<std::uint32_t> user;  // of this machine, at the other end; empty = not known

  bool is_head() const { return method == "HEAD"; }
  // The first of this name; null if there is none.
  const std::string* parameter(std::string_view name) const;
};

// Takes a request target ("/a/b?c=d%20e") apart. False if it is none: not absolute, or with an
// escape that is not two hexadecimal digits or gives a control character.
bool parse_target(std::string_view target, Request& request);

// Whether a value of Accept-Encoding allows gzip: "gzip, br" does, "gzip;q=0" does not.
bool allows_gzip(std::string accepted);

class RequestParser {
 public:
  enum class State : std::uint8_t {
    kMore,  // needs more bytes
    kDone,  // request() is whole
    kBad,   // status() and problem() say what to answer; the connection cannot go on
  };

  RequestParser();
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  State feed(std::string_view bytes);
  // After kDone: starts with what came behind the last request.
  State next();

  const Request& request() const { return request_; }
  unsigned status() const { return status_; }
  const std::string& problem() const { return problem_; }
  // Something of a request is there.
  bool has_begun() const { return !waiting_.empty(); }

 private:
  struct Beast;
  State parse();
  State bad(unsigned status, std::string problem);
  bool has_stray_body() const;
  bool take_request();

  std::unique_ptr<Beast> beast_;
  std::string waiting_;
  Request request_;
  unsigned status_ = 400;
  std::string problem_;
};

}  // namespace ttmem::serve::http
