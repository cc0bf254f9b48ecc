// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem events --format legacy`: the original server's log lines, byte for byte, so that scripts
// which read its log go on working. One line per device; events the original did not know give
// none.
#pragma once

#include <string>

#include "ledger/event.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::legacy {

struct EventLineOptions {
  // Also the line that the original's client printed at a load: binary size, cores, program id.
  bool detail = false;
};

// Zero or more lines, each with its line break. `process` is whose event it is: at its death the
// lines say what it held. Null if not known any more.
std::string event_lines(const ledger::EventView& event, const ledger::ProcessView* process,
                        const EventLineOptions& options);

}  // namespace ttmem::legacy
