// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A daemon on this host may read more than this user may, and has seen what nobody else has: when
// a process died. It is asked only where such a thing is missing, for a moment only, and only if it
// is run by root, by the service's own user or by this user: anybody could listen on its port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "ledger/snapshot.hpp"
#include "top/history.hpp"
#include "top/source.hpp"

namespace ttmem::cli {

// The body of what the daemon at $TTMEM_SERVE (the path of its UNIX socket, HOST:PORT, or "off")
// answers; empty if none does, or not in time. Without the variable it is the one that listens in a
// directory of segments, where it tells this user's own words; else 127.0.0.1:7171, unless
// $TTMEM_DIR names a directory.
std::optional<std::string> ask_daemon(const std::string& path);

// Whether one listens there that may be asked: then it did not answer in time.
bool is_daemon_there();

// What TTMEM_SERVE names; null if nothing, or "off".
const char* named_daemon();

// Who listens at that address and is not asked, being none of those who may run it.
std::optional<std::uint32_t> stranger_in_its_place();

// Whether there is something that this user may not read.
bool is_kept_from(const collect::Collector& collector);

// Adds what only the daemon knows, if there is reason to ask: true if it told what this user may
// not read. `wanted` as in the collector's options.
bool complete(const collect::Collector& collector,
              const std::optional<ledger::ProcessSelector>& wanted, ledger::Snapshot& snapshot);

// The same for one who reads again and again: the daemon is asked once a second at most.
top::Complete completer(const std::optional<ledger::ProcessSelector>& wanted);

// What the daemon remembers of the last two minutes of each device, in the order of time.
std::vector<top::PastMoment> last_minutes();

}  // namespace ttmem::cli
