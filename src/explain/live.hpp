// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How a device stands now, before anything has failed: how full, how scattered, what would fail
// next, and what to move. Pure, as all of this room: pictures in, findings out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explain/findings.hpp"
#include "explain/growth.hpp"

namespace ttmem::explain {

// One space of the device as one process has it, and what happened to it lately.
struct SpaceToday {
  ledger::SpacePicture picture;
  std::vector<HeldChange> changes;  // the oldest first
};

struct SpaceNow {
  ledger::Space space = ledger::Space::kDram;
  BankSum sum;                       // nothing was asked for
  std::uint64_t holes = 0;           // how many
  std::optional<double> scattered;   // share of the holes' bytes outside of the largest one
  ledger::Figure lowest_buffer;      // address
  std::optional<Growth> growth;      // empty = not known
  std::optional<double> full_after;  // seconds, if it goes on so
  std::vector<Holder> holders;       // the largest first
  std::uint64_t holders_left_out = 0;
};

// The program in the cache that reaches highest, against today's lowest buffer.
struct NextClash {
  std::string program, line, cores;
  std::uint64_t region_end = 0, lowest_buffer = 0;
  std::int64_t headroom = 0;          // negative: its next launch clashes
  std::optional<double> clash_after;  // seconds, if the lowest buffer goes on falling
};

struct LiveFindings {
  std::string headline;  // what would fail next, as a sentence with its figures
  std::vector<SpaceNow> spaces;
  std::optional<NextClash> next;  // empty: no program is in the cache, or no buffer in L1
  std::vector<Cure> moves;        // each was tried out
  std::vector<std::string> unknown;
};

LiveFindings explain_live(const std::vector<SpaceToday>& spaces, ledger::TimeNs now);

}  // namespace ttmem::explain
