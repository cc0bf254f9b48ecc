// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "report/moments.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "explain/explain.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::report {
namespace {

using collect::Collector;
using ledger::Space;

// Of a row, what counts here; nothing where it has none.
using Amount = std::function<std::uint64_t(const ledger::OriginSpace&)>;

HeldList list_of(const ledger::OriginTotals& totals, Space space, const Amount& amount,
                 bool count) {
  HeldList list;
  for (const ledger::OriginTotal& row : totals.rows) {
    const ledger::OriginSpace& of = row.space(space);
    const std::uint64_t bytes = amount(of);
    if (bytes > 0) list.rows.push_back({row.path, bytes, count ? of.buffers : 0});
  }
  std::ranges::stable_sort(list.rows, std::greater(), &Held::bytes);
  return list;
}

ledger::Figure capacity_of(const ledger::Snapshot& snapshot, Space space) {
  ledger::WholeSum sum;
  for (const ledger::DeviceView& device : snapshot.devices) {
    sum.add(device.figures.space(space).capacity);
  }
  return snapshot.devices.empty() ? ledger::Figure() : sum.result();
}

SpacePeak held(const Collector& collector, Space space, const ledger::OriginQuestion& whose,
               const Amount& amount, bool count) {
  SpacePeak peak{.space = space, .capacity = capacity_of(collector.snapshot(), space)};
  ledger::OriginQuestion question = whose;
  question.by = ledger::OriginBy::kLine;
  peak.lines = list_of(collector.origins(question), space, amount, count);
  question.by = ledger::OriginBy::kStack;
  peak.stacks = list_of(collector.origins(question), space, amount, count);
  for (const Held& row : peak.lines.rows) peak.bytes = ledger::add(peak.bytes, row.bytes);
  return peak;
}

// The device that is nearest to a clash, else the one whose L1 holds most.
const ledger::DeviceView* tightest_device(const ledger::Snapshot& snapshot) {
  const ledger::DeviceView* tightest = nullptr;
  const auto headroom = [](const ledger::DeviceView& device) {
    return device.figures.headroom.min;
  };
  const auto taken = [](const ledger::DeviceView& device) {
    return device.figures.space(Space::kL1).taken.value_or(0);
  };
  for (const ledger::DeviceView& device : snapshot.devices) {
    const bool tighter =
        tightest == nullptr ||
        (headroom(device) && (!headroom(*tightest) || *headroom(device) < *headroom(*tightest))) ||
        (!headroom(device) && !headroom(*tightest) && taken(device) > taken(*tightest));
    if (tighter) tightest = &device;
  }
  return tightest;
}

// Of cores with the same headroom, the fullest.
const ledger::CoreView* tightest_of(const std::vector<ledger::CoreView>& cores) {
  const ledger::CoreView* tightest = nullptr;
  const auto before = [](const ledger::CoreView& a, const ledger::CoreView& b) {
    if (a.headroom.has_value() != b.headroom.has_value()) return a.headroom.has_value();
    if (a.headroom && *a.headroom != *b.headroom) return *a.headroom < *b.headroom;
    return a.free < b.free;
  };
  for (const ledger::CoreView& core : cores) {
    if (core.role != ledger::Role::kWorker) continue;
    if (tightest == nullptr || before(core, *tightest)) tightest = &core;
  }
  return tightest;
}

bool lies_in(const ledger::HoldingView& holding, const ledger::CoreView& core) {
  return std::ranges::any_of(core.map, [&](const ledger::CoreStretch& part) {
    return part.owner && part.begin == holding.address && holding.process->is(*part.owner);
  });
}

}  // namespace

std::optional<std::int64_t> least_headroom(const ledger::Snapshot& snapshot) {
  const ledger::DeviceView* device = tightest_device(snapshot);
  return device == nullptr ? std::nullopt : device->figures.headroom.min;
}

SpacePeak held_at(const Collector& collector, Space space) {
  SpacePeak peak =
      held(collector, space, {}, [](const auto& of) { return of.taken.value_or(0); }, true);
  peak.time = collector.snapshot().time;
  return peak;
}

SpacePeak held_at_own_peaks(const Collector& collector, Space space, bool the_dead) {
  ledger::OriginQuestion whose;
  if (the_dead) whose.of = [](const ledger::ProcessName&) { return true; };
  SpacePeak peak =
      held(collector, space, whose, [](const auto& of) { return of.at_peak.value_or(0); }, false);
  if (peak.bytes > 0) return peak;
  peak = held(collector, space, whose, [](const auto& of) { return of.taken.value_or(0); }, true);
  peak.time = collector.snapshot().time;
  return peak;
}

std::optional<TightestCore> tightest_core(const Collector& collector) {
  const ledger::DeviceView* device = tightest_device(collector.snapshot());
  if (device == nullptr) return std::nullopt;
  TightestCore found{.device = device->id, .unique_id = device->unique_id};
  found.time = collector.snapshot().time;
  found.cores = collector.cores(device->id, false);
  const ledger::CoreView* tightest = tightest_of(found.cores);
  if (tightest == nullptr) return std::nullopt;
  auto with_map = collector.cores(device->id, true, tightest->core);
  if (with_map.empty()) return std::nullopt;
  found.core = std::move(with_map.front());
  collector.holdings([&](const ledger::HoldingView& holding) {
    if (!holding.process->alive ||
        std::ranges::find(holding.devices, device->id) == holding.devices.end())
      return;
    const bool in_l1 = holding.kind == ledger::HoldingKind::kRange ||
                       (holding.kind == ledger::HoldingKind::kBuffer &&
                        (holding.space == Space::kL1 || holding.space == Space::kL1Small));
    if (in_l1 && lies_in(holding, *found.core)) found.holdings.push_back(holding);
  });
  return found;
}

void explain_all(const Collector& collector, Report& report, view::TextEditor& editor) {
  for (const ledger::ProcessView& process : report.end.processes) {
    for (const ledger::FailureView& failure : process.failures) {
      auto picture = collector.failed_space(process.key, failure.number);
      if (picture) {
        editor.edit(picture->failed);
        if (picture->dram) editor.edit(*picture->dram);
      }
      view::ExplainedFailure told = view::failure_of(process, failure);
      editor.edit(told.failure);
      ledger::FailureView read = told.failure;
      read.message = failure.message;  // findings are read from the runtime's own words
      told.findings = explain::explain_failure(read, picture ? &*picture : nullptr);
      report.failures.push_back(std::move(told));
    }
    report.other_failures +=
        process.failure_count -
        std::min<std::uint64_t>(process.failure_count, process.failures.size());
  }
  std::ranges::stable_sort(report.failures, {}, [](const auto& each) { return each.failure.time; });
}

}  // namespace ttmem::report
