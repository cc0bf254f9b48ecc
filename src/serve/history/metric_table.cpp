// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/metric_table.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ledger/figure_table.hpp"

namespace ttmem::serve::history {
namespace {

using ledger::DeviceFigures;
using ledger::Figure;
using ledger::FigureGroup;
using ledger::FigureRow;
using ledger::Past;

// Calls visit(group, row, figure) for the figures whose past is kept.
template <typename Visit>
void for_each_kept(Subject subject, const DeviceFigures& figures, Visit visit) {
  ledger::for_each_figure(
      [&](const FigureGroup& group, const FigureRow& row, const Figure& figure) {
        const bool of_process = row.past == Past::kOfProcessesToo && group.past_of_processes;
        if (subject == Subject::kDevice ? row.past != Past::kForgotten : of_process) {
          visit(group, row, figure);
        }
      },
      figures);
}

// "dram.taken". The past of kernels is that of their footprint, and bears their name alone.
std::string name_of(const FigureGroup& group, const FigureRow& row) {
  const bool footprint = row.metric == ledger::Metric::kFootprint;
  return footprint ? std::string(group.path) : fmt::format("{}.{}", group.path, row.name);
}

struct Metrics {
  std::vector<MetricInfo> all;
  std::vector<std::optional<ledger::Space>> peaks;
  std::size_t of_devices = 0;

  Metrics() {
    add_kept(Subject::kDevice, "", "");
    add({std::string(kDispatchesMetric), "dispatches/s", Subject::kDevice,
         "Programs launched per second."});
    add({"headroom.min", "bytes", Subject::kDevice,
         "Room between program L1 and L1 buffers on the tightest core; negative: a clash."});
    add({std::string(kProcessesMetric), "processes", Subject::kDevice,
         "Live processes that have the device open."});
    of_devices = all.size();
    add_kept(Subject::kProcess, "process.", " One process, on all its devices.");
  }

 private:
  void add(MetricInfo info, std::optional<ledger::Space> peak = {}) {
    all.push_back(std::move(info));
    peaks.push_back(peak);
  }

  void add_kept(Subject subject, std::string_view prefix, std::string_view suffix) {
    for_each_kept(subject, {}, [&](const FigureGroup& group, const FigureRow& row, const Figure&) {
      const bool has_peak = row.name == "taken";
      add({fmt::format("{}{}", prefix, name_of(group, row)), std::string(name(row.unit)), subject,
           fmt::format("{} {}: {}.{}", group.label, row.name, row.definition, suffix)},
          has_peak ? group.space : std::nullopt);
    });
  }
};

const Metrics& table() {
  static const Metrics kTable;
  return kTable;
}

}  // namespace

const std::vector<MetricInfo>& metrics() { return table().all; }
std::size_t device_metric_count() { return table().of_devices; }
std::optional<ledger::Space> peak_of(std::size_t metric) { return table().peaks.at(metric); }

std::optional<std::size_t> metric_number(std::string_view name) {
  const auto found = std::ranges::find(metrics(), name, &MetricInfo::name);
  if (found == metrics().end()) return std::nullopt;
  return static_cast<std::size_t>(found - metrics().begin());
}

std::vector<Value> values_of(Subject subject, const DeviceFigures& figures) {
  std::vector<Value> values;
  for_each_kept(subject, figures, [&](const FigureGroup&, const FigureRow&, const Figure& figure) {
    values.push_back(to_value(figure));
  });
  if (subject == Subject::kDevice) {
    values.insert(values.end(), {std::nullopt, figures.headroom.min, std::nullopt});
  }
  return values;
}

Value to_value(const Figure& figure) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!figure) return std::nullopt;
  return static_cast<std::int64_t>(std::min(*figure, kLargest));
}

}  // namespace ttmem::serve::history
