// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The text that a daemon gives at /metrics, read back: families of samples, in their order. What is
// pushed is what would be scraped, so there is one list of metrics and not two.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::fleet {

struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;
  std::string number;  // as it stands there: integers stay exact
  const std::string& label(std::string_view name) const;
};

struct MetricFamily {
  std::string name, help;
  bool counter = false;  // else a gauge
  std::vector<MetricSample> samples;
};

inline constexpr std::size_t kMostPushedSamples = 200'000;

Result<std::vector<MetricFamily>> read_exposition(std::string_view text);

}  // namespace ttmem::fleet
