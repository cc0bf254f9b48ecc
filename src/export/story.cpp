// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "export/story.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::exports {

namespace {

using ledger::EventKind;
using ledger::EventView;
using ledger::HoldingKind;
using ledger::HoldingView;

bool is_life(HoldingKind kind) {
  return kind == HoldingKind::kBuffer || kind == HoldingKind::kProgram;
}
bool comes(EventKind kind) {
  return kind == EventKind::kBufferAllocated || kind == EventKind::kProgramRegistered;
}
bool goes(EventKind kind) {
  return kind == EventKind::kBufferFreed || kind == EventKind::kProgramReleased;
}
// After these, what is held is not what the events before say.
bool breaks(EventKind kind) {
  return kind == EventKind::kGap || kind == EventKind::kAllocatorCleared ||
         kind == EventKind::kAllocatorClosed || kind == EventKind::kDeviceClosed;
}

}  // namespace

void place_ends(std::vector<EventView>& events, const ledger::Snapshot& snapshot) {
  std::map<std::uint64_t, ledger::TimeNs> last;  // event of each process
  bool moved = false;
  for (EventView& event : events) {
    const ledger::TimeNs before = std::exchange(last[event.process->key], event.time);
    if (event.kind != EventKind::kProcessEnded || before == 0) continue;
    const ledger::ProcessView* process = snapshot.process(event.process->key);
    if (process == nullptr || process->ended_at != 0) continue;
    event.time = before;
    moved = true;
  }
  if (moved) std::ranges::stable_sort(events, {}, &EventView::time);
}

HoldingView holding_of(const EventView& event) {
  HoldingView holding;
  const bool is_buffer = event.kind == EventKind::kBufferAllocated ||
                         event.kind == EventKind::kBufferFreed ||
                         event.kind == EventKind::kBufferChanged;
  holding.kind = is_buffer ? HoldingKind::kBuffer : HoldingKind::kProgram;
  holding.process = event.process;
  for (const ledger::EventDevice& device : event.devices) holding.devices.push_back(device.id);
  std::ranges::sort(holding.devices);
  holding.id = event.id;
  holding.name = event.name;
  holding.operation = event.operation;
  holding.line = event.line;
  holding.region = event.region;
  holding.stack = event.stack;
  if (is_buffer) {
    holding.space = event.space;
    holding.layout = event.layout;
    holding.address = event.address;
    holding.requested = event.requested;
    holding.block = event.block;
    holding.taken = event.taken;
    holding.kernel_binaries = event.kernel_binaries;
  } else {
    holding.footprint = event.footprint;
  }
  holding.estimated = event.estimated;
  holding.since = event.time;
  return holding;
}

Storyteller::Storyteller(Scribe& scribe, const Beginning& beginning)
    : scribe_(scribe), beginning_(beginning) {
  scribe_.begin(beginning_);
}

Storyteller::Key Storyteller::key_of(const HoldingView& holding) {
  return {holding.process->key, holding.kind, holding.id,
          holding.kind == HoldingKind::kBuffer ? holding.space : ledger::Space::kDram,
          holding.devices.empty() ? 0 : holding.devices.front()};
}

// Processes of which the state before some event of the batch is not known from the story so far:
// it is what they hold after the batch, taken back event by event.
std::map<std::uint64_t, Storyteller::Restart> Storyteller::find_restarts(
    const std::vector<EventView>& events, const Holdings& after) {
  std::map<std::uint64_t, Restart> restarts;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::uint64_t process = events[i].process->key;
    if (breaks(events[i].kind)) restarts[process].from = i + 1;
    if (seen_.insert(process).second) restarts[process];
  }
  if (restarts.empty() && !first_) return restarts;
  after([&](const HoldingView& holding) {
    if (!is_life(holding.kind)) return;
    const std::uint64_t process = holding.process->key;
    if (first_ && holding.process->alive && seen_.insert(process).second) restarts[process];
    if (const auto known = restarts.find(process); known != restarts.end()) {
      known->second.held.insert_or_assign(key_of(holding), holding);
    }
  });
  for (std::size_t i = events.size(); i-- > 0;) {
    const auto known = restarts.find(events[i].process->key);
    if (known == restarts.end() || i < known->second.from) continue;
    const HoldingView holding = holding_of(events[i]);
    if (comes(events[i].kind)) known->second.held.erase(key_of(holding));
    if (goes(events[i].kind)) {
      HoldingView before = holding;
      before.since = 0;
      known->second.held.insert_or_assign(key_of(holding), before);
    }
  }
  return restarts;
}

void Storyteller::tell(const std::vector<EventView>& events, const Holdings& after,
                       ledger::TimeNs until) {
  auto restarts = find_restarts(events, after);
  const auto start_again = [&](std::size_t at, ledger::TimeNs time) {
    for (auto& [process, again] : restarts) {
      if (again.from == at) restart(process, again.held, time);
    }
  };
  start_again(0, first_ || events.empty() ? beginning_.wall : events.front().time);
  first_ = false;
  for (std::size_t i = 0; i < events.size() && events[i].time <= until; ++i) {
    scribe_.happened(events[i]);
    apply(events[i]);
    start_again(i + 1, events[i].time);
  }
}

void Storyteller::restart(std::uint64_t process, const Held& held, ledger::TimeNs time) {
  for (auto life = lives_.begin(); life != lives_.end();) {
    const auto each = life++;
    if (std::get<0>(each->first) == process && !held.contains(each->first)) go(each, time);
  }
  for (const auto& [key, holding] : held) {
    if (!lives_.contains(key)) come(holding, time, true);
  }
}

void Storyteller::apply(const EventView& event) {
  if (event.kind == EventKind::kProcessEnded) {
    for (auto life = lives_.begin(); life != lives_.end();) {
      const auto each = life++;
      if (std::get<0>(each->first) == event.process->key) go(each, event.time);
    }
    return;
  }
  if (!comes(event.kind) && !goes(event.kind)) return;
  HoldingView holding = holding_of(event);
  const auto known = lives_.find(key_of(holding));
  if (goes(event.kind)) {
    if (known != lives_.end()) go(known, event.time);
    return;
  }
  if (known != lives_.end()) go(known, event.time);
  come(std::move(holding), event.time, false);
}

void Storyteller::come(HoldingView holding, ledger::TimeNs time, bool was_there) {
  if (holding.since == 0 || holding.since > time) holding.since = time;
  const Key key = key_of(holding);
  const auto [life, added] =
      lives_.insert_or_assign(key, Life{std::move(holding), ++numbers_, was_there});
  scribe_.came(life->second);
  change_level(life->second.holding, true, time);
}

void Storyteller::go(std::map<Key, Life>::iterator life, ledger::TimeNs time) {
  scribe_.went(life->second, std::max(time, life->second.holding.since));
  change_level(life->second.holding, false, time);
  lives_.erase(life);
}

void Storyteller::change_level(const HoldingView& holding, bool more, ledger::TimeNs time) {
  if (holding.kind != HoldingKind::kBuffer || !holding.taken) return;
  for (const std::uint32_t device : holding.devices) {
    std::uint64_t& taken = levels_[{holding.process->key, device, holding.space}];
    taken = more ? ledger::add(taken, *holding.taken) : taken - std::min(taken, *holding.taken);
    scribe_.level({holding.process, device, holding.space, taken, time});
  }
}

void Storyteller::end(const Ending& ending) { scribe_.end(ending); }

}  // namespace ttmem::exports
