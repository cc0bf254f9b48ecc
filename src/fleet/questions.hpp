// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Questions to an engine, some at a time, and what becomes of the numbers in its answers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fleet/ask_engine.hpp"

namespace ttmem::fleet {

inline std::uint64_t whole(double value) {
  constexpr double kMost = 1.8e19;
  return value <= 0 ? 0 : static_cast<std::uint64_t>(std::min(std::round(value), kMost));
}

inline std::int64_t whole_signed(double value) {
  constexpr double kMost = 9.2e18;
  return static_cast<std::int64_t>(std::clamp(std::round(value), -kMost, kMost));
}

// Collects questions, and then asks some at a time: an engine answers each of them on one core.
// Gives up at the first that is not answered.
class Questions {
 public:
  Questions(const Engine& engine, const EngineQuestion& question)
      : engine_(engine), question_(question) {}

  // name{matchers}, with what was asked for in addition.
  std::string select(const std::string& name, const std::string& matchers = "") const {
    const bool both = !matchers.empty() && !question_.match.empty();
    return fmt::format("{}{{{}{}{}}}", name, matchers, both ? "," : "", question_.match);
  }
  // A figure of each device, once, whoever scrapes it how often.
  std::string by_device(const std::string& name, const std::string& matchers = "") const {
    return fmt::format("max by (instance, unique_id) ({})", select(name, matchers));
  }
  // The hosts that tell now: what an engine still remembers of others is not told as now.
  std::string fresh(const std::string& matchers = "") const {
    const std::string seen = select("ttmem_self_snapshots_total", matchers);
    return fmt::format("time() - max by (instance) (timestamp({0})) <= {1} and on (instance) {0}",
                       seen, question_.stale_seconds);
  }

  // `each` will be called with every sample: in answer(), which knows its thread and its order.
  void ask(std::string expression, std::function<void(const Sample&)> each) {
    asked_.push_back({std::move(expression), std::move(each)});
  }
  // Asks what was collected, and hands out the samples in the order of the questions; none of a
  // question that failed and of those after it.
  void answer();

  const std::optional<Error>& error() const { return error_; }
  // What the engine warned of, each once.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Asked {
    std::string expression;
    std::function<void(const Sample&)> each;
  };

  const Engine& engine_;
  const EngineQuestion& question_;
  std::vector<Asked> asked_;
  std::optional<Error> error_;
  std::vector<std::string> warnings_;
};

// Every job that the engine knows, over all its hosts; `fresh_only` where it has series of stale
// ones as well.
std::vector<JobRow> jobs_over_hosts(Questions& questions, bool fresh_only);

}  // namespace ttmem::fleet
