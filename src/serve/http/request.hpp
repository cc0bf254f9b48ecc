// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What somebody asks over HTTP, as far as the daemon looks at it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttmem::serve::http {

struct Request {
  std::string method;  // "GET"
  std::string path;    // decoded, without the question mark and what follows
  std::vector<std::pair<std::string, std::string>> query;   // decoded, in order
  std::optional<std::string> host, origin;                  // headers; empty = not there
  std::string authorization, last_event_id, if_none_match;  // "" = not there
  bool takes_gzip = false;
  bool keep_alive = true;
  bool from_loopback = true;

  bool is_head() const { return method == "HEAD"; }
  // The first of this name; null if there is none.
  const std::string* parameter(std::string_view name) const;
};

// Takes a request target ("/a/b?c=d%20e") apart. False if it is none: not absolute, or with an
// escape that is not two hexadecimal digits or gives a control character.
bool parse_target(std::string_view target, Request& request);

// Whether a value of Accept-Encoding allows gzip: "gzip, br" does, "gzip;q=0" does not.
bool allows_gzip(std::string accepted);

}  // namespace ttmem::serve::http
