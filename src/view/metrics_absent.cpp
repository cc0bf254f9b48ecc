// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// In place of metrics.cpp where prometheus-cpp cannot be linked: it exists as a shared library
// only, and a portable build may need none of this machine.
#include "view/metrics.hpp"

namespace ttmem::view {

bool metrics_available() { return false; }

void CounterMemory::observe(const ledger::Snapshot& /*snapshot*/) {}
CounterMemory::Counts CounterMemory::totals(std::uint64_t /*unique_id*/) const { return {}; }

std::string metrics_text(const ledger::Snapshot& /*snapshot*/, const MetricsOptions& /*options*/,
                         const SelfFigures& /*self*/, CounterMemory& /*memory*/) {
  return {};
}

}  // namespace ttmem::view
