// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/wordless.hpp"

namespace ttmem::serve {

std::deque<ledger::EventView> without_words(std::deque<ledger::EventView> events) {
  for (ledger::EventView& event : events) {
    event.line.clear();
    event.region.clear();
    event.stack.reset();
  }
  return events;
}

explain::LeakReport without_words(explain::LeakReport report) {
  for (explain::LeakSuspect& suspect : report.suspects) {
    suspect.origin.line.clear();
    suspect.origin.region.clear();
  }
  return report;
}

}  // namespace ttmem::serve
