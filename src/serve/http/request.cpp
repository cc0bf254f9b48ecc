// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/request.hpp"

#include <algorithm>
#include <optional>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "serve/http/recordings_path.hpp"

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

namespace beast = boost::beast::http;

namespace {

constexpr std::uint32_t kMostHeadBytes = 16 * 1024;
constexpr const char* kNoBody =
    "send no body: requests here have none, but for pieces of a recording, of 64 KiB at most";
constexpr std::uint64_t kMostBodyBytes = 64 * 1024;  // a piece of a file

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
    parser.body_limit(kMostBodyBytes);
  }
  beast::request_parser<beast::string_body> parser;
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
    if (has_stray_body()) return bad(413, kNoBody);
  }
  if (error == beast::error::header_limit) return bad(431, "the head is larger than 16 KiB");
  if (error == beast::error::bad_version) return bad(505, "speak HTTP/1.1");
  if (error == beast::error::unexpected_body || error == beast::error::body_limit) {
    return bad(413, kNoBody);
  }
  if (error) return bad(400, "this is not HTTP: " + error.message());
  if (!beast_->parser.is_done()) return State::kMore;
  if (!take_request()) {
    return bad(400, "the target must be a path with correct %-escapes, such as /api/v1/snapshot");
  }
  return State::kDone;
}

// Nothing but a piece of a recording has a body, which is not even waited for elsewhere.
bool RequestParser::has_stray_body() const {
  if (!beast_->parser.is_header_done() || beast_->parser.is_done()) return false;
  const auto& message = beast_->parser.get();
  const std::string_view method(message.method_string().data(), message.method_string().size());
  const std::string_view target(message.target().data(), message.target().size());
  return beast_->parser.chunked() || !opens_recording(method, target.substr(0, target.find('?')));
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
  // Nor is it known which of two origins a browser meant: that is none of ours.
  if (message.count(beast::field::origin) > 1) request_.origin = "several";
  request_.authorization = field(message, beast::field::authorization).value_or("");
  request_.cookie = field(message, beast::field::cookie).value_or("");
  const auto last = message.find("Last-Event-ID");
  if (last != message.end()) request_.last_event_id = std::string(last->value());
  request_.if_none_match = field(message, beast::field::if_none_match).value_or("");
  request_.takes_gzip = allows_gzip(field(message, beast::field::accept_encoding).value_or(""));
  request_.keep_alive = message.keep_alive();
  request_.body = message.body();
  return parse_target(std::string_view(message.target().data(), message.target().size()), request_);
}

}  // namespace ttmem::serve::http
