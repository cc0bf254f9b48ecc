// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Any bytes, cut anywhere, as an HTTP connection: through the real parser, the guard and the routes
// to the head of an answer. Every answer is well formed, and nobody gets one whom the guard
// refuses.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "collect/collector.hpp"
#include "serve/history/history.hpp"
#include "serve/http/guard.hpp"
#include "serve/http/request.hpp"
#include "serve/http/routes.hpp"

namespace {

using namespace ttmem;
using namespace ttmem::serve;
using http::RequestParser;

void require(bool condition) {
  if (!condition) std::abort();
}

ledger::Snapshot host_of_strangers() {
  ledger::Snapshot snapshot;
  snapshot.time = 1'800'000'000'000'000'000;
  snapshot.devices.resize(2);
  snapshot.devices[1].id = 1;
  ledger::ProcessView process;
  process.pid = 7;
  process.key = 1;
  process.alive = true;
  process.name = "\"}\n\x1b[2J<script>\xff";
  process.devices.resize(1);
  snapshot.processes.push_back(process);
  return snapshot;
}

struct Host {
  Host() { live.take(host_of_strangers()); }
  http::LiveSnapshot live;
  collect::Collector collector{{.directories = {"/nowhere"}}};
  std::unique_ptr<history::History> history =
      history::History::open_or_memory("", {}, 1'800'000'000'000'000'000).history;
  http::Routes routes{{.live = live,
                       .collector = collector,
                       .history = history.get(),
                       .refresh = [] {},
                       .metrics = [](const auto&) { return std::string("metric 1\n"); },
                       .first_events =
                           [](const http::StreamOptions&, const std::string&) {
                             return http::FirstEvents{.start = ": \n\n", .rest = {}};
                           },
                       .recent_events = [] { return std::deque<ledger::EventView>(1); },
                       .recordings = [] { return std::string("{}\n"); },
                       .self = [] { return view::SelfFigures(); }}};
  http::Guard guard{{.names = {"box"}}};
};

// A status line, lines with a name each, an empty line: nothing of the request can add one.
void check_head(std::string_view head) {
  require(head.starts_with("HTTP/1.1 ") && head.ends_with("\r\n\r\n"));
  head.remove_suffix(2);
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    require(end != std::string_view::npos && !line.empty());
    require(std::none_of(line.begin(), line.end(), [](char c) { return c == '\r' || c == '\n'; }));
    head.remove_prefix(end + 2);
  }
}

void check_answer(const http::Request& request, const http::Response& response) {
  check_head(http::head(response, request.keep_alive));
  require(response.status >= 200 && response.status < 600);
  if (response.type != "application/json") return;
  std::string body = response.start;
  for (const auto& part : response.rest) body += *part;
  const auto document = nlohmann::json::parse(body, nullptr, false);
  require(!document.is_discarded() && document.is_object());
  require((response.status == 200) != document.contains("error"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Host host;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::size_t piece = rest.empty() ? 1 : static_cast<std::uint8_t>(rest[0]) * 4u + 1u;
  if (!rest.empty()) rest.remove_prefix(1);
  RequestParser parser;
  auto state = RequestParser::State::kMore;
  while (state != RequestParser::State::kBad && !rest.empty()) {
    state = parser.feed(rest.substr(0, piece));
    rest.remove_prefix(std::min(piece, rest.size()));
    while (state == RequestParser::State::kDone) {
      http::Request request = parser.request();
      auto refused = host.guard.refusal(request);
      http::Response response = refused ? std::move(*refused) : host.routes.answer(request);
      require(refused || request.method == "GET" || request.method == "HEAD");
      http::add_security_headers(response);
      check_answer(request, response);
      state = parser.next();
    }
  }
  if (state == RequestParser::State::kBad) {
    check_answer(parser.request(), http::error(parser.status(), parser.problem()));
  }
  return 0;
}
