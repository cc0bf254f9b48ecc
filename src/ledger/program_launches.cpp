// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/program_launches.hpp"

#include <utility>

namespace ttmem::ledger {

std::optional<std::unordered_set<std::uint64_t>> workloads_in_rings(const LiveState& live) {
  std::optional<std::unordered_set<std::uint64_t>> in_ring;
  for (const auto& [index, manager] : live.ring_managers) {
    if (!manager.open) continue;
    if (!in_ring) in_ring.emplace();
    for (const RingRecord& ring : manager.rings) {
      for (const RingSlice& slice : ring.contents) in_ring->insert(slice.workload);
    }
  }
  return in_ring;
}

void launch_counts(const LiveState& live, const std::function<void(const LaunchCount&)>& visit) {
  const auto in_ring = workloads_in_rings(live);
  for (const WorkloadRecord* workload : live.programs.workloads()) {
    const Launches& launches = workload->launches;
    visit({false, workload->id, launches.count, workload->reloads, launches.first, launches.last,
           in_ring && in_ring->contains(workload->id), 0});
  }
  for (const SlotIndex slot : live.programs.traces()) {
    const TraceRecord& trace = *live.slots.get<TraceRecord>(slot);
    const Launches& launches = trace.launches;
    visit({true, trace.id, launches.count, 0, launches.first, launches.last, false, trace.members});
  }
}

Replays::Replays(const LiveState& live, const LaunchWatch* watch) : watch_(watch) {
  for (const SlotIndex slot : live.programs.traces()) {
    const TraceRecord& trace = *live.slots.get<TraceRecord>(slot);
    add_members(live.catalog, trace.members, {0, trace.id, trace.launches.count}, live_);
  }
  if (watch == nullptr) return;
  watch->for_each_trace([&](std::uint64_t id, ListId members) {
    add_members(live.catalog, members, {0, id, 0}, watched_);
  });
}

void Replays::add_members(const Catalog& catalog, ListId list, Trace trace, Members& all) {
  const auto* members = list == 0 ? nullptr : catalog.members(list);
  if (members == nullptr) return;
  catalog.effort().spend(members->size() * Effort::kHeavy);
  for (const TraceMember& member : *members) {
    trace.set = member.set;
    all[member.program].push_back(trace);
  }
}

void Replays::describe(const ProgramRecord& record, const Naming& naming, ProgramView& view) const {
  const auto for_each = [&](const Members& all, auto visit) {
    const auto found = all.find(record.id);
    if (found == all.end()) return;
    for (const Trace& trace : found->second) {
      if (trace.set == record.set) visit(trace);
    }
  };
  for_each(live_, [&](const Trace& trace) { add_to(view.replays, trace.replays); });
  if (watch_ == nullptr) return;
  std::vector<std::uint64_t> traces;
  for_each(watched_, [&](const Trace& trace) { traces.push_back(trace.id); });
  auto series = watch_->series(record.workload, traces);
  if (!series) return;
  view.recent_per_second = series->recent_rate();
  const bool idle = view.replays.value_or(0) == 0 && view.last_dispatch + kRecentNs < series->until;
  if (!view.recent_per_second && idle) view.recent_per_second = 0;
  if (naming.with_launches) view.launches = std::move(series);
}

}  // namespace ttmem::ledger
