// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/metric_table.hpp"

#include <array>
#include <limits>

namespace ttmem::serve::history {
namespace {

using ledger::DeviceFigures;
using ledger::KernelType;
using ledger::Space;

template <Space Which>
Value taken(const DeviceFigures& figures) {
  return to_value(figures.space(Which).taken);
}

template <Space Which>
Value requested(const DeviceFigures& figures) {
  return to_value(figures.space(Which).requested);
}

Value resident(const DeviceFigures& figures) { return to_value(figures.program_l1.resident); }
Value reserved(const DeviceFigures& figures) { return to_value(figures.program_l1.reserved); }

template <KernelType Which>
Value footprint(const DeviceFigures& figures) {
  if (!figures.kernels.dispatches) return std::nullopt;  // a source that knows no programs
  return to_value(figures.kernels.by_type[static_cast<std::size_t>(Which)].footprint);
}

Value headroom(const DeviceFigures& figures) { return figures.headroom.min; }

constexpr std::string_view kBytes = "bytes";

constexpr std::array kDeviceMetrics = {
    DeviceMetric{"dram.taken", kBytes, "DRAM that the allocator can no longer give out.",
                 taken<Space::kDram>, Space::kDram},
    DeviceMetric{"dram.requested",
                 kBytes,
                 "DRAM as the programs asked for it.",
                 requested<Space::kDram>,
                 {}},
    DeviceMetric{"l1.taken", kBytes, "L1 buffers: what the allocator can no longer give out.",
                 taken<Space::kL1>, Space::kL1},
    DeviceMetric{"l1.requested",
                 kBytes,
                 "L1 buffers as the programs asked for them.",
                 requested<Space::kL1>,
                 {}},
    DeviceMetric{"l1_small.taken", kBytes, "L1_SMALL that the allocator can no longer give out.",
                 taken<Space::kL1Small>, Space::kL1Small},
    DeviceMetric{"l1_small.requested",
                 kBytes,
                 "L1_SMALL as the programs asked for it.",
                 requested<Space::kL1Small>,
                 {}},
    DeviceMetric{"trace.taken", kBytes, "Trace memory that the allocator can no longer give out.",
                 taken<Space::kTrace>, Space::kTrace},
    DeviceMetric{"trace.requested",
                 kBytes,
                 "Trace memory as the programs asked for it.",
                 requested<Space::kTrace>,
                 {}},
    DeviceMetric{"program_l1.resident",
                 kBytes,
                 "Circular buffers and the like of the programs that ran last, now in L1.",
                 resident,
                 {}},
    DeviceMetric{"program_l1.reserved",
                 kBytes,
                 "The same, as the union over all live programs.",
                 reserved,
                 {}},
    DeviceMetric{"kernels.application",
                 kBytes,
                 "Footprint of application kernels: binary size x cores, an upper bound.",
                 footprint<KernelType::kApplication>,
                 {}},
    DeviceMetric{"kernels.fabric",
                 kBytes,
                 "Footprint of fabric kernels.",
                 footprint<KernelType::kFabric>,
                 {}},
    DeviceMetric{"kernels.dispatch",
                 kBytes,
                 "Footprint of dispatch kernels.",
                 footprint<KernelType::kDispatch>,
                 {}},
    DeviceMetric{kDispatchesMetric, "dispatches/s", "Programs launched in a second.", nullptr, {}},
    DeviceMetric{"headroom.min",
                 kBytes,
                 "Room between program L1 and L1 buffers on the tightest core; negative: a clash.",
                 headroom,
                 {}},
    DeviceMetric{
        kProcessesMetric, "processes", "Live processes that have the device open.", nullptr, {}},
};

constexpr std::array kProcessMetrics = {
    ProcessMetric{"process.dram.taken", kBytes, "DRAM taken by one process on all its devices.",
                  taken<Space::kDram>, Space::kDram},
    ProcessMetric{"process.l1.taken", kBytes, "L1 buffers of one process on all its devices.",
                  taken<Space::kL1>, Space::kL1},
    ProcessMetric{"process.program_l1.resident",
                  kBytes,
                  "Program L1 of one process that is in L1 now, on all its devices.",
                  resident,
                  {}},
};

template <typename Table>
void append(std::vector<MetricInfo>& all, const Table& table, Subject subject) {
  for (const auto& each : table) {
    all.push_back(
        {std::string(each.name), std::string(each.unit), subject, std::string(each.help)});
  }
}

std::vector<MetricInfo> all_metrics() {
  std::vector<MetricInfo> all;
  append(all, kDeviceMetrics, Subject::kDevice);
  append(all, kProcessMetrics, Subject::kProcess);
  return all;
}

}  // namespace

const std::vector<MetricInfo>& metrics() {
  static const std::vector<MetricInfo> kAll = all_metrics();
  return kAll;
}

std::size_t device_metric_count() { return kDeviceMetrics.size(); }
const DeviceMetric& device_metric(std::size_t metric) { return kDeviceMetrics.at(metric); }
std::size_t process_metric_count() { return kProcessMetrics.size(); }
const ProcessMetric& process_metric(std::size_t metric) { return kProcessMetrics.at(metric); }

std::optional<std::size_t> metric_number(std::string_view name) {
  const std::vector<MetricInfo>& all = metrics();
  for (std::size_t number = 0; number < all.size(); ++number) {
    if (all[number].name == name) return number;
  }
  return std::nullopt;
}

Value to_value(const ledger::Figure& figure) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!figure) return std::nullopt;
  return static_cast<std::int64_t>(std::min(*figure, kLargest));
}

}  // namespace ttmem::serve::history
