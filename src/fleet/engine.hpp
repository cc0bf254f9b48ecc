// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// An engine that speaks the HTTP API of Prometheus: Prometheus itself, VictoriaMetrics, Thanos,
// Mimir. Instant queries, bounded in time, bytes and series.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fleet/http_client.hpp"

namespace ttmem::fleet {

struct Sample {
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;

  // "" if it has no such label.
  const std::string& label(std::string_view name) const;
};
using Samples = std::vector<Sample>;

inline constexpr std::size_t kMostSeries = 20'000;

class Engine {
 public:
  Engine(Url url, Headers headers, std::chrono::milliseconds timeout)
      : url_(std::move(url)), headers_(std::move(headers)), timeout_(timeout) {}

  // What the engine warns of is added to `warnings`, each once. May be called by several threads.
  Result<Samples> query(const std::string& expression, std::vector<std::string>& warnings) const;
  std::string name() const { return url_.text(); }

 private:
  Url url_;
  Headers headers_;
  std::chrono::milliseconds timeout_;
};

// The answer of /api/v1/query, as a stranger wrote it.
Result<Samples> read_samples(const std::string& body, std::vector<std::string>& warnings);

// A value of a label between quotes in a query.
std::string quoted(const std::string& value);

}  // namespace ttmem::fleet
