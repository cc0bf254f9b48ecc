// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/frame.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "top/source_lines.hpp"
#include "view/labels.hpp"

namespace ttmem::top {
namespace {

using ledger::HoldingKind;
using ledger::HoldingView;

bool is_on(const HoldingView& holding, std::uint32_t device) {
  return std::find(holding.devices.begin(), holding.devices.end(), device) != holding.devices.end();
}

std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval& interval : intervals) {
    if (!result.empty() && interval.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, interval.end);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

DeviceDetails device_details(const collect::Collector& collector,
                             const ledger::DeviceView& device) {
  DeviceDetails details;
  details.unique_id = device.unique_id;
  details.cores = collector.cores(device.id, true);
  details.rings = collector.rings(device.id);
  collector.holdings([&](const HoldingView& holding) {
    // What the dead held is no longer on the device, and an estimate has no address to draw.
    if (!holding.process->alive || holding.estimated || !is_on(holding, device.id)) return;
    if (holding.kind == HoldingKind::kKernel) details.kernels.push_back(holding);
    if (holding.kind == HoldingKind::kBuffer && holding.space == ledger::Space::kDram &&
        holding.block) {
      details.dram.push_back({holding.address, holding.address + *holding.block});
    }
  });
  std::stable_sort(details.kernels.begin(), details.kernels.end(),
                   [](const auto& a, const auto& b) {
                     return a.footprint.value_or(0) > b.footprint.value_or(0);
                   });
  if (details.kernels.size() > kKernelsKept) details.kernels.resize(kKernelsKept);
  details.dram = merged(std::move(details.dram));
  return details;
}

std::string_view part_name(ledger::Part part) {
  switch (part) {
    case ledger::Part::kCb:
      return "circular buffer";
    case ledger::Part::kDataflowBuffer:
      return "dataflow buffer";
    case ledger::Part::kScratchpad:
      return "scratchpad";
    case ledger::Part::kView:
      return "view of a buffer";
  }
  return "?";
}

std::string what(const HoldingView& holding) {
  switch (holding.kind) {
    case HoldingKind::kBuffer:
      if (holding.kernel_binaries) return "kernel binaries";
      return std::string(view::title(holding.space)) + " buffer";
    case HoldingKind::kProgram:
      return "program";
    case HoldingKind::kKernel:
      return std::string(view::title(holding.type)) + " kernel";
    case HoldingKind::kRange:
      return std::string(part_name(holding.part));
    case HoldingKind::kTrace:
      return "trace";
  }
  return "?";
}

std::uint64_t bytes_of(const HoldingView& holding) {
  // The best measure there is: what it takes, else where it lies, else what was asked for.
  const ledger::Figure& figure = holding.kind == HoldingKind::kKernel ? holding.footprint
                                 : holding.taken                      ? holding.taken
                                 : holding.occupied                   ? holding.occupied
                                                                      : holding.requested;
  return figure.value_or(0) * std::max<std::size_t>(1, holding.devices.size());
}

void add(HoldingGroup& group, const HoldingView& holding, ledger::TimeNs now) {
  const std::uint64_t bytes = bytes_of(holding);
  ++group.count;
  group.bytes += bytes;
  // Without a time it is neither old nor fresh.
  if (holding.since == 0) return;
  if (holding.since + kFreshNs > now) group.fresh_bytes += bytes;
  if (group.oldest == 0 || holding.since < group.oldest) group.oldest = holding.since;
  group.youngest = std::max(group.youngest, holding.since);
}

std::vector<HoldingGroup> groups_of(const collect::Collector& collector,
                                    const ledger::ProcessView& process, ledger::TimeNs now) {
  std::map<std::tuple<std::string, std::string, std::string>, HoldingGroup> groups;
  collector.holdings([&](const HoldingView& holding) {
    // A program is counted by its kernels and ranges: with itself it would be there twice.
    if (!holding.process->is(process) || holding.kind == HoldingKind::kProgram) return;
    const std::string& tag = holding.operation.empty() ? holding.name : holding.operation;
    std::string kind = what(holding);
    if (holding.estimated) kind += " (estimated)";
    HoldingGroup& group = groups[{kind, tag, holding.line}];
    group.what = kind;
    group.operation = tag;
    group.line = holding.line;
    add(group, holding, now);
  });
  std::vector<HoldingGroup> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return result;
}

std::vector<TreeRow> tree_of(const collect::Collector& collector,
                             const ledger::ProcessView& process) {
  static thread_local SourceLines sources;  // of the one thread that reads
  ledger::OriginQuestion question{ledger::OriginBy::kStack, {}, {}};
  question.of = [&](const ledger::ProcessName& each) { return each.is(process); };
  std::vector<TreeRow> rows;
  for (view::OriginStep& step : view::origin_tree(collector.origins(question).rows)) {
    if (rows.size() == kTreeRowsKept) break;
    std::string text = sources.text_of(step.name, {collector.snapshot().host, process.started});
    rows.push_back({std::move(step), std::move(text)});
  }
  return rows;
}

ProcessDetails process_details(const collect::Collector& collector,
                               const ledger::ProcessView& process, std::uint32_t failure, bool tree,
                               ledger::TimeNs now) {
  ProcessDetails details;
  details.process = process_id(process);
  details.groups = groups_of(collector, process, last_moment(process, now));
  if (tree) details.tree = tree_of(collector, process);
  details.failure = failure;
  if (failure == 0) return details;
  auto picture = collector.failure_picture(process.key, failure);
  if (picture) {
    details.picture = std::move(*picture);
  } else {
    details.picture_problem = picture.error().message;
  }
  return details;
}

}  // namespace

ledger::TimeNs last_moment(const ledger::ProcessView& process, ledger::TimeNs now) {
  return process.alive || process.ended_at == 0 ? now : process.ended_at;
}

ProcessId process_id(const ledger::ProcessName& process) {
  // The name of a segment is new for every process; pid and start come again after a restart of the
  // host, and in every container.
  if (!process.segment.empty()) return std::hash<std::string>{}(process.segment);
  return process.start << 22 ^ static_cast<std::uint32_t>(process.pid);
}

void take_details(const collect::Collector& collector, const Request& request, Frame& frame) {
  frame.device.reset();
  frame.process.reset();
  frame.programs.reset();
  for (const ledger::DeviceView& device : frame.snapshot.devices) {
    if (request.device == device.unique_id) frame.device = device_details(collector, device);
  }
  for (const ledger::ProcessView& process : frame.snapshot.processes) {
    if (request.process == process_id(process)) {
      frame.process =
          process_details(collector, process, request.failure, request.tree, frame.snapshot.time);
    }
  }
  if (request.programs) frame.programs = collector.programs(request.launches);
}

}  // namespace ttmem::top
