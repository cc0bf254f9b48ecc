// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/request_parser.hpp"

#include <optional>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace ttmem::serve::http {

namespace beast = boost::beast::http;

namespace {

constexpr std::uint32_t kMostHeadBytes = 16 * 1024;

template <typename Fields>
std::optional<std::string> field(const Fields& fields, beast::field name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  return std::string(found->value());
}

}  // namespace

struct RequestParser::Beast {
  Beast() {
    parser.header_limit(kMostHeadBytes);
    parser.body_limit(0);
    parser.eager(true);
  }
  beast::request_parser<beast::empty_body> parser;
};

RequestParser::RequestParser() : beast_(std::make_unique<Beast>()) {}
RequestParser::~RequestParser() = default;

RequestParser::State RequestParser::feed(std::string_view bytes) {
  waiting_ += bytes;
  return parse();
}

RequestParser::State RequestParser::next() {
  beast_ = std::make_unique<Beast>();
  return waiting_.empty() ? State::kMore : parse();
}

RequestParser::State RequestParser::parse() {
  boost::system::error_code error;
  while (!waiting_.empty() && !beast_->parser.is_done()) {
    const std::size_t used =
        beast_->parser.put(boost::asio::const_buffer(waiting_.data(), waiting_.size()), error);
    waiting_.erase(0, used);
    if (error == beast::error::need_more) return State::kMore;
    if (error) break;
  }
  if (error == beast::error::header_limit) return bad(431, "the head is larger than 16 KiB");
  if (error == beast::error::bad_version) return bad(505, "speak HTTP/1.1");
  if (error == beast::error::unexpected_body || error == beast::error::body_limit) {
    return bad(413, "send no body: every answer is had by a GET without one");
  }
  if (error) return bad(400, "this is not HTTP: " + error.message());
  if (!beast_->parser.is_done()) return State::kMore;
  if (!take_request()) {
    return bad(400, "the target must be a path with correct %-escapes, such as /api/v1/snapshot");
  }
  return State::kDone;
}

RequestParser::State RequestParser::bad(unsigned status, std::string problem) {
  status_ = status;
  problem_ = std::move(problem);
  return State::kBad;
}

bool RequestParser::take_request() {
  const auto& message = beast_->parser.get();
  request_ = {};
  request_.method = std::string(message.method_string());
  request_.host = field(message, beast::field::host);
  // Two Host headers leave it open whom the client meant.
  if (message.count(beast::field::host) > 1) request_.host.reset();
  request_.origin = field(message, beast::field::origin);
  request_.authorization = field(message, beast::field::authorization).value_or("");
  const auto last = message.find("Last-Event-ID");
  if (last != message.end()) request_.last_event_id = std::string(last->value());
  request_.if_none_match = field(message, beast::field::if_none_match).value_or("");
  request_.takes_gzip = allows_gzip(field(message, beast::field::accept_encoding).value_or(""));
  request_.keep_alive = message.keep_alive();
  return parse_target(std::string_view(message.target().data(), message.target().size()), request_);
}

}  // namespace ttmem::serve::http
