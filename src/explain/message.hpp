// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What TT-Metal says when something does not fit, read: which of its messages it is, and the
// figures in it. Releases end some of them earlier, so each figure may be missing; a message that
// is none of them is `kOther`, never a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/enums.hpp"
#include "ledger/figures.hpp"

namespace ttmem::explain {

enum class MessageKind : std::uint8_t {
  kOther,
  kOutOfMemory,      // no hole in a bank for the buffer
  kBelowLimit,       // it would lie below what is allowed
  kClash,            // a program's region reaches into buffers
  kProgramTooLarge,  // a program's region reaches beyond the L1
  kRing,             // a program does not fit into the kernel-config ring
  kTraceRegion,      // traces do not fit into their region
};

// What a message says; empty where it does not. Bytes are those of one bank, or one core.
struct Message {
  MessageKind kind = MessageKind::kOther;
  std::optional<ledger::Space> space;                  // out of memory
  ledger::Figure requested;                            // over all banks; trace: the traces
  ledger::Figure banks;                                // that the buffer is spread over
  ledger::Figure per_bank, bank, held, free, largest;  // out of memory
  ledger::Figure lowest_buffer, region_end;            // clash
  ledger::Figure needed, limit;                        // too large, ring, trace region
  std::string cores;                                   // "0,0-7,7"; "" = not said
};

Message read_message(std::string_view text);

}  // namespace ttmem::explain
