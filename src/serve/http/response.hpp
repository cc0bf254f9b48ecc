// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is answered over HTTP. Large bodies are shared by everybody who asked for the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/http/stream.hpp"

namespace ttmem::serve::http {

using SharedText = std::shared_ptr<const std::string>;

struct Response {
  unsigned status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  // The body is one after the other.
  std::string start;
  SharedText rest;  // may be null
  // The body is only the beginning: the connection goes on with what is published for such readers.
  std::optional<StreamOptions> stream;

  std::size_t size() const { return start.size() + (rest ? rest->size() : 0); }
};

// {"error":{"status":404,"message":"..."}}: `message` says what to do.
Response error(unsigned status, std::string_view message);
Response json(std::string text);

// Status line and headers, with the empty line at their end. A stream has no length and ends with
// its connection.
std::string head(const Response& response, bool keep_alive);

}  // namespace ttmem::serve::http
