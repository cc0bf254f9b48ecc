// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Bytes into requests, by Boost.Beast's parser. Whatever comes is bounded: a head of 16 KiB, no
// body at all. Bytes behind a request are kept for the next one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http/request.hpp"

namespace ttmem::serve::http {

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
  bool take_request();

  std::unique_ptr<Beast> beast_;
  std::string waiting_;
  Request request_;
  unsigned status_ = 400;
  std::string problem_;
};

}  // namespace ttmem::serve::http
