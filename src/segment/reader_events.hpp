// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Reading the event ring while it is overwritten. Record n stands at n % capacity until event
// n + capacity comes; so a copy is good if, after copying, the head is still far enough below that.
#pragma once

#include <cstdint>
#include <vector>

#include "segment/format.hpp"
#include "segment/reader_file.hpp"
#include "segment/reader_header.hpp"

namespace ttmem::segment {

// Consecutive events; `first` is the number of events.front().
struct EventRun {
  std::uint64_t first = 0;
  std::vector<Event> events;
  bool complete = false;  // everything that was asked for is here; else its oldest part is missing

  std::uint64_t last() const { return first + events.size() - 1; }
};

// The number of the last event, now.
bool read_head(const ReadOnlyFile& file, std::uint64_t& head);

// Events from..to (inclusive; `to` is at most one beyond the head, for a writer that stopped before
// moving it), as many of them as the ring still holds,
// without holes: what was overwritten is left out at the old end.
EventRun read_events(const ReadOnlyFile& file, const Part& ring, std::uint64_t from,
                     std::uint64_t to);

}  // namespace ttmem::segment
