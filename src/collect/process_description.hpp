// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a segment says about its process in words: who it is, how well it is tracked, what failed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collect/clock.hpp"
#include "ledger/catalog.hpp"
#include "ledger/snapshot.hpp"
#include "segment/reader.hpp"

namespace ttmem::collect {

// Who it is. `key`, liveness, tracking, failures and devices are left to the caller. `trusted`: the
// file's owner may speak for processes of others.
ledger::ProcessView process_view(const segment::Reader& reader, bool trusted,
                                 const TickClock& clock);

// How well it is tracked. What only a follower knows (lost events, unsettled slots) is left out.
ledger::Tracking tracking_of(const segment::Reader& reader, const segment::CounterFront& counters);

ledger::FailureView failure_view(const segment::Failure& failure, const segment::Reader& reader,
                                 const ledger::Catalog& names, const TickClock& clock);

// As the system knows the user, or the number.
std::string user_name(std::uint32_t uid);

// "out_of_memory", ...
std::string_view failure_word(std::uint64_t kind);

}  // namespace ttmem::collect
