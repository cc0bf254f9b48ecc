// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which figures have a history, and where each stands in a snapshot.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "ledger/figures.hpp"
#include "serve/history/query.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {

struct DeviceMetric {
  std::string_view name, unit, help;
  // Empty where the sampler computes it: processes and the rate of dispatches.
  Value (*value)(const ledger::DeviceFigures&);
  // The space whose peak counter is the peak of this figure.
  std::optional<ledger::Space> peak_of;
};

// Metrics are numbered: those of devices first, in the order of metrics().
std::size_t device_metric_count();
const DeviceMetric& device_metric(std::size_t metric);

inline constexpr std::string_view kProcessesMetric = "processes";
inline constexpr std::string_view kDispatchesMetric = "dispatches";

// A process has the sums of these over all its devices.
struct ProcessMetric {
  std::string_view name, unit, help;
  Value (*value)(const ledger::DeviceFigures&);
  std::optional<ledger::Space> peak_of;
};
std::size_t process_metric_count();
const ProcessMetric& process_metric(std::size_t metric);  // 0 = the first of a process

std::optional<std::size_t> metric_number(std::string_view name);

Value to_value(const ledger::Figure& figure);

}  // namespace ttmem::serve::history
