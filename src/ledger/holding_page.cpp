// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/holding_page.hpp"

#include "base/assert.hpp"
#include "ledger/effort_shares.hpp"

namespace ttmem::ledger {
namespace {

// Others may have come or gone before it; if it is gone itself, what followed it is at its place.
void find_process(const std::vector<ProcessInput>& processes, HoldingPlace& place) {
  const auto is_there = [&](std::uint64_t position) {
    return position < processes.size() && processes[position].identity.key == place.key;
  };
  if (is_there(place.process)) return;
  for (std::uint64_t i = 0; i < processes.size(); ++i) {
    if (!is_there(i)) continue;
    place.process = i;
    return;
  }
  place = {.process = place.process};
}

bool is_asked_for(const HoldingQuestion& question, const ProcessInput& process,
                  const Naming& naming) {
  return process.ledger != nullptr && (!question.of || question.of(*naming.process));
}

}  // namespace

bool visit_holdings(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                    const HoldingQuestion& question, HoldingPlace& place,
                    const std::function<bool(const HoldingView&)>& visit) {
  TTMEM_CHECK(visit != nullptr);
  if (place.key != 0) find_process(processes, place);
  EffortShares shares;
  while (place.process < processes.size()) {
    const ProcessInput& process = processes[place.process];
    const Naming naming = naming_of(process, snapshot);
    place.key = process.identity.key;
    bool more = true;
    shares.ask(process, [&] {
      if (!is_asked_for(question, process, naming)) return;
      more = process.ledger->visit_holdings(question, place, naming, visit);
    });
    if (!more) return true;
    place = {.process = place.process + 1};
  }
  return false;
}

std::uint64_t count_holdings(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                             const HoldingQuestion& question) {
  std::uint64_t count = 0;
  EffortShares shares;
  for (const ProcessInput& process : processes) {
    const Naming naming = naming_of(process, snapshot);
    shares.ask(process, [&] {
      if (!is_asked_for(question, process, naming)) return;
      count += process.ledger->count_holdings(question, naming);
    });
  }
  return count;
}

}  // namespace ttmem::ledger
