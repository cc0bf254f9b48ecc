// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// An engine that speaks the API of Prometheus, as `ttmem fleet` and `ttmem top` ask it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fleet/ask_engine.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
class Option;
}  // namespace CLI

namespace ttmem::cli {

struct EngineOptions {
  std::string match, token_file;
  std::vector<std::string> headers;
  double timeout_seconds = 10;
  unsigned stale_seconds = 120;

  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_seconds * 1000));
  }
  fleet::EngineQuestion question() const;
};

// --match, --token-file, --header, --timeout and --stale; what only an engine takes needs `from`.
void add_engine_options(CLI::App& command, CLI::Option& from, EngineOptions& options);

// Whether what stands after --from is an address and no file.
bool is_url(const std::string& from);

// An error is in words for the user; its code is kWrongKind if the options are wrong.
Result<fleet::Engine> open_engine(const std::string& url, const EngineOptions& options);

// What the token file has; "" if there is none.
Result<std::string> token_of(const EngineOptions& options);

// Nanoseconds since 1970.
std::uint64_t wall_clock_ns();

}  // namespace ttmem::cli
