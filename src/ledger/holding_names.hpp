// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How people call a thing in the ledger: "ttnn.matmul", "CB 2 of matmul", "buffer 0x5".
#pragma once

#include <string>

#include "ledger/live_state.hpp"

namespace ttmem::ledger {

std::string buffer_name(const LiveState& live, const BufferRecord& buffer);
std::string program_name(const LiveState& live, const ProgramRecord& program);
// `trace`: the slot of the trace that replays the program, or kNoSlot.
std::string range_name(const LiveState& live, const RangeRecord& range,
                       const ProgramRecord& program, SlotIndex trace);
std::string slice_name(const LiveState& live, const RingSlice& slice);
std::string standing_name(const LiveState& live, const Standing& standing);

}  // namespace ttmem::ledger
