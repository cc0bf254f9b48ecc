// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/engine_options.hpp"

#include <utility>

#include <CLI/CLI.hpp>

#include "cli/reading_options.hpp"

namespace ttmem::cli {
namespace {

// A matcher is a part of a selector: what would end that is none.
std::string match_problem(const std::string& text) {
  if (text.find_first_of("{}\r\n") == std::string::npos && text.find('=') != std::string::npos) {
    return {};
  }
  return "a match is such as 'cluster=\"a\"' or 'instance=~\"rack7-.*\"'";
}

}  // namespace

std::uint64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

fleet::EngineQuestion EngineOptions::question() const {
  return {match, stale_seconds, wall_clock_ns()};
}

void add_engine_options(CLI::App& command, CLI::Option& from, EngineOptions& options) {
  command.add_option("--match", options.match, "Ask only for series that match this")
      ->type_name("MATCHER")
      ->needs(&from)
      ->check(match_problem);
  command.add_option("--token-file", options.token_file, "Send the token in this file")
      ->type_name("FILE");
  command.add_option("--header", options.headers, "Send this header, too; may be repeated")
      ->type_name("HEADER")
      ->needs(&from);
  command.add_option("--timeout", options.timeout_seconds, "Wait at most N seconds for an answer")
      ->type_name("N")
      ->capture_default_str()
      ->check(seconds_between(0.1, 600));
  command
      .add_option("--stale", options.stale_seconds,
                  "Call a host stale after N seconds without a scrape")
      ->type_name("N")
      ->capture_default_str()
      ->needs(&from);
}

bool is_url(const std::string& from) {
  return from.starts_with("http://") || from.starts_with("https://");
}

Result<std::string> token_of(const EngineOptions& options) {
  return options.token_file.empty() ? Result<std::string>("")
                                    : fleet::read_token(options.token_file);
}

Result<fleet::Engine> open_engine(const std::string& url, const EngineOptions& options) {
  const auto parsed = fleet::parse_url(url, 9090);
  if (!parsed) return parsed.error();
  const auto token = token_of(options);
  // What is in a file is no mistake in the command line.
  if (!token) return Error{ErrorCode::kSystem, token.error().message};
  fleet::Headers headers;
  if (!token->empty()) headers.push_back(fleet::authorization(*token));
  for (const std::string& text : options.headers) {
    auto header = fleet::parse_header_option(text);
    if (!header) return header.error();
    headers.push_back(std::move(*header));
  }
  return fleet::Engine(*parsed, std::move(headers), options.timeout());
}

}  // namespace ttmem::cli
