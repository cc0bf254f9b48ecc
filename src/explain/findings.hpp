// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What there is to say about a failure, as data: text, JSON and the page show the same. Nothing is
// asserted beyond the figures that a finding rests on, and a cure is in the list only if it was
// tried out on the picture and cured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/address_map.hpp"
#include "ledger/space_picture.hpp"

namespace ttmem::explain {

enum class Verdict : std::uint8_t {
  kTooLarge,         // larger than a bank: no freeing helps
  kFull,             // fewer bytes are free than were asked for
  kScattered,        // enough is free, in pieces that are too small
  kClash,            // a program and buffers want the same bytes of L1
  kL1Small,          // the L1_SMALL region has no hole for it
  kTraceRegion,      // the traces are larger than their region
  kRing,             // a program is larger than the kernel-config ring
  kProgramTooLarge,  // a program alone is larger than the L1
  kOther,
};

// The figures of one bank, or of one core: held + holes = bank.
struct BankSum {
  ledger::Figure asked, held, holes, largest_hole, bank;
  std::uint32_t banks = 0;   // 0 = not known
  std::string figures_from;  // "message", "picture"; "" = there are none
};

enum class StripKind : std::uint8_t { kHeld, kHole, kMixed, kProgram, kNeeded };

// A stretch of the bank in the picture, bottom to top; neighbours of one origin are one, and small
// ones between large ones are `kMixed`. What was needed, and the program of a clash, come last:
// they lie over the others.
struct Strip {
  StripKind kind = StripKind::kHole;
  ledger::AddressRange range;
  std::uint64_t blocks = 0;  // that are drawn as this one
  std::uint64_t free = 0;    // bytes of holes in it
  std::string name;          // what is there
};

// What one line of code holds in the space.
struct Holder {
  ledger::HeldOrigin origin;
  ledger::HeldKind kind = ledger::HeldKind::kBuffer;
  std::uint64_t bytes = 0;  // in each bank
  std::uint64_t taken = 0;  // in all banks
  std::uint64_t count = 0;
  std::uint64_t lowest = 0;  // address
  ledger::TimeNs oldest = 0, newest = 0;
  ledger::TimeNs last_use = 0;  // 0 = not known
};

enum class CureKind : std::uint8_t {
  kDeallocate,
  kMoveToDram,
  kReallocate,
  kRequestInDram,
  kDataType,
  kInterleave,
  kL1SmallSize,
  kTraceRegionSize,
  kWorkerL1Size,
  kClearProgramCache,
  kProgramConfig,
  kConvConfig,
  kShard,
};

// Something that helps, tried out on the picture.
struct Cure {
  CureKind kind = CureKind::kDeallocate;
  std::string text;         // a sentence: what to do, and what it gives
  std::string call;         // as it is written in Python; "" = none
  std::string line;         // "FILE:LINE FUNCTION" of what it is about; "" = of nothing
  std::string given;        // what must be true for it; "" = nothing beyond the picture
  ledger::Figure frees;     // bytes in each bank
  ledger::Figure hole;      // the hole that is there afterwards
  ledger::Figure to_spare;  // of it
  ledger::Figure value;     // of a setting; bits of a type; what to divide in0_block_w or shards by
  std::vector<std::uint64_t> addresses;  // of the tensors that it is about, the lowest 64
};

// Both sides of a clash.
struct ClashSides {
  std::string program, program_line, cores;
  ledger::Figure region_end, lowest_buffer, overlap;
  ledger::HeldOrigin buffer;
  ledger::Figure buffer_bytes;
};

struct Findings {
  Verdict verdict = Verdict::kOther;
  std::string headline;  // the verdict as a sentence with its figures
  std::optional<ledger::Space> space;
  BankSum sum;
  std::vector<Strip> picture;  // empty = not known
  std::optional<ClashSides> clash;
  std::vector<Holder> holders;  // the most important first
  std::uint64_t holders_left_out = 0;
  std::vector<Cure> cures;           // the cheapest first
  std::vector<std::string> remarks;  // true, and good to know: what would not help
  std::vector<std::string> unknown;  // what is not known
};

}  // namespace ttmem::explain

namespace ttmem::ledger {

template <>
inline constexpr std::array<std::string_view, 9> kNamesOf<explain::Verdict> = {
    "too_large",    "full", "scattered",         "clash", "l1_small",
    "trace_region", "ring", "program_too_large", "other"};
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<explain::StripKind> = {
    "held", "hole", "mixed", "program", "needed"};
template <>
inline constexpr std::array<std::string_view, 13> kNamesOf<explain::CureKind> = {
    "deallocate",     "move_to_dram",        "reallocate",     "request_in_dram",
    "data_type",      "interleave",          "l1_small_size",  "trace_region_size",
    "worker_l1_size", "clear_program_cache", "program_config", "conv_config",
    "shard"};

}  // namespace ttmem::ledger
