// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What `--format legacy` prints: the original's own lines and layouts, for scripts and eyes that
// know them.
#pragma once

#include <string>

#include "ledger/event.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::legacy {

// `ttmem events --format legacy`: the original server's log lines, byte for byte. One line per
// device; events the original did not know give none.
struct EventLineOptions {
  // Also the line that the original's client printed at a load: binary size, cores, program id.
  bool detail = false;
};

// Zero or more lines, each with its line break. `process` is whose event it is: at its death the
// lines say what it held. Null if not known any more.
std::string event_lines(const ledger::EventView& event, const ledger::ProcessView* process,
                        const EventLineOptions& options);

// `ttmem status --format legacy`: the two layouts of the original's viewer. Buffers are as
// requested, CBs are summed over all live programs, and both totals include the kernels' footprint,
// as there; a foot line says so.
std::string status_text(const ledger::Snapshot& snapshot);

}  // namespace ttmem::legacy
