// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the commands print for people: one function per report. Each takes plain data, and says what
// the JSON of the same data says.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ledger/event.hpp"
#include "ledger/jobs.hpp"
#include "ledger/snapshot.hpp"
#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

// The report of `ttmem status`: a tree for each device, a table of the processes that are alive,
// those that ended with what they held, and whatever needs attention.
std::string status_text(const ledger::Snapshot& snapshot, const Style& style);

// Nobody is or was recorded: the report begins with one line that says how to begin.
bool is_empty(const ledger::Snapshot& snapshot);
std::string empty_text();

// `ttmem status --cores`: the L1 of every core in exact bytes, adding up to its size; and the map
// of one core, bottom to top, with names and owners.
std::string cores_text(const DeviceCores& device, const Style& style);
// Needs a core with its map.
std::string core_map_text(std::uint32_t device_id, const ledger::CoreView& core,
                          const Style& style);

// `ttmem dump`: every holding, one per row, in a table for each kind. `now` is what ages are
// counted from. Empty if there is nothing.
std::string dump_text(const std::vector<ledger::HoldingView>& holdings, ledger::TimeNs now,
                      const Style& style);

// One failure: what happened, in the runtime's words, and what was held at that moment.
std::string failure_text(const ProcessFailure& failure, ledger::TimeNs now, const Style& style);

// `ttmem status --programs`: the live programs, what each takes and how often it ran.
std::string programs_text(const std::vector<ledger::ProgramView>& programs, ledger::TimeNs now,
                          const Style& style);

// `ttmem status --by line`: what is held, by the code that it comes from. One row per line, file,
// operation or region, the largest first, and their sum; of stacks a tree, each step with
// everything inside of it.
std::string origins_text(const Origins& origins, const Style& style);
// Below it: why some have no line, and what is not in it.
std::string origins_notes(const Origins& origins, const ledger::Snapshot& snapshot);
// What living processes hold of which a daemon tells the sums alone: a line for each.
std::string unlisted_text(const ledger::Snapshot& snapshot);

// `ttmem status --by job`: a job as one thing: its ranks, what they hold together, which has the
// least room, how far they are apart, and who died first.
// What a person should know of a job beside its ranks: who is missing, who is tightest, how far the
// ranks are apart, who died first.
using JobNotes = std::vector<std::pair<Tone, std::string>>;
JobNotes job_notes(const ledger::JobView& job, ledger::TimeNs now);
// "Job rack/31.0: 3 of 4 ranks, user me", and "alive" or "died 3 s ago" of one of them.
std::string job_title(const ledger::JobView& job);
std::string rank_state_text(const ledger::RankView& rank, ledger::TimeNs now);
std::string jobs_text(const std::vector<ledger::JobView>& jobs, ledger::TimeNs now,
                      const Style& style);

// "model > layer 3"; what is not known is said in words.
std::string origin_name(const ledger::OriginTotal& row, ledger::OriginBy by);

// `ttmem events`: one plain line per event, with time, process and devices. With its line
// break.
std::string event_text(const ledger::EventView& event, const Style& style);

}  // namespace ttmem::view
