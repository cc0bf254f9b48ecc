// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which figures have a history, and what they are in a snapshot. The table of figures says which
// (ledger/figure_table.hpp); a few more are added here.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "ledger/figures.hpp"
#include "serve/history/query.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {

// Metrics are numbered in the order of metrics(): those of devices first.
std::size_t device_metric_count();
std::optional<std::size_t> metric_number(std::string_view name);
// The space whose peak counter is the peak of this metric.
std::optional<ledger::Space> peak_of(std::size_t metric);

// What the metrics of a device are now, by number; or those of a process on one device, of which
// the first has the number device_metric_count(). Empty: not known, or worked out by the sampler.
std::vector<Value> values_of(Subject subject, const ledger::DeviceFigures& figures);
inline constexpr std::string_view kProcessesMetric = "processes";
inline constexpr std::string_view kDispatchesMetric = "dispatches";

Value to_value(const ledger::Figure& figure);

}  // namespace ttmem::serve::history
