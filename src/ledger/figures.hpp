// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures of a device: of one process on it, or of everybody. docs/figures.md defines each one
// with a worked example. A figure that is not known is empty, never 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ledger/words.hpp"

namespace ttmem::ledger {

using Figure = std::optional<std::uint64_t>;

// What the bytes of a sum are based on.
enum class Basis : std::uint8_t { kBlocks, kRequested, kMixed };
// How the peak of a device was found: exact while one process lived, else the largest total seen.
enum class PeakBasis : std::uint8_t { kExact, kObserved };

struct SpaceFigures {
  Figure capacity;      // bank bytes x banks
  Figure taken;         // block x all banks: what the allocator can no longer give out
  Figure occupied;      // block x banks that hold data
  Figure requested;     // as the programs asked
  Figure peak;          // of taken
  Figure count;         // buffers
  Figure largest_free;  // in one bank: the largest buffer that still fits has this block
  bool operator==(const SpaceFigures&) const = default;
};

struct ProgramL1Figures {
  Figure resident;   // per core, of the last dispatched live program or trace, clipped by buffers
  Figure reserved;   // per core, the union of all live programs
  Figure allocated;  // sum over live programs of size x cores; grows with the program cache
  Figure peak;       // sum over cores of the largest program L1 ever dispatched there
  Figure count;      // live programs that have program L1
  bool operator==(const ProgramL1Figures&) const = default;
};

struct KernelTypeFigures {
  std::uint64_t count = 0;      // kernels of loaded programs
  std::uint64_t programs = 0;   // loaded programs
  std::uint64_t footprint = 0;  // packed bytes x cores: an upper bound of bytes written
  bool operator==(const KernelTypeFigures&) const = default;
};

struct KernelFigures {
  std::array<KernelTypeFigures, kKernelTypes> by_type;
  std::array<std::uint64_t, kCoreTypes> by_core_type{};  // footprint
  std::uint64_t registered = 0;  // programs that were never dispatched: 0 bytes
  Figure in_dram;                // buffers that hold binaries: a part of DRAM taken
  Figure unique_bytes;           // packed bytes, equal code counted once
  Figure dispatches, first_loads, cache_hits, reloads, evictions, captures, replays;
  bool stand_in = false;  // built by a stand-in compiler: sizes are not true

  KernelTypeFigures system() const;  // fabric + dispatch
  KernelTypeFigures total() const;
  bool operator==(const KernelFigures&) const = default;
};

struct RingFigures {
  CoreType core_type = CoreType::kTensix;
  std::uint32_t queue = 0, sub_device = 0;
  std::uint32_t capacity = 0;
  std::uint32_t used = 0;             // bytes of the slices in use
  std::uint32_t programs = 0;         // slices in use
  std::uint32_t largest_program = 0;  // ever reserved
  std::uint32_t high_water = 0;
  std::uint64_t evictions = 0, reloads = 0;
  bool observed = false;  // else simulated
  std::int64_t headroom() const { return std::int64_t{capacity} - std::int64_t{largest_program}; }
  bool operator==(const RingFigures&) const = default;
};

// Lowest occupied L1 buffer address minus the end of the program L1. Negative is a clash.
struct Headroom {
  std::optional<std::int64_t> min;           // against what is resident
  std::optional<std::int64_t> min_reserved;  // against any live program
  std::optional<Core> core;                  // where `min` is
  bool operator==(const Headroom&) const = default;
};

struct DeviceFigures {
  std::array<SpaceFigures, kSpaces> spaces;
  Figure l1_capacity;  // allocatable: L1 and L1_SMALL
  Figure l1_used;      // L1 taken + L1_SMALL taken + program L1 resident
  ProgramL1Figures program_l1;
  KernelFigures kernels;
  std::vector<RingFigures> rings;
  Headroom headroom;
  Basis basis = Basis::kBlocks;
  PeakBasis peak_basis = PeakBasis::kExact;

  const SpaceFigures& space(Space which) const { return spaces[static_cast<std::size_t>(which)]; }
  SpaceFigures& space(Space which) { return spaces[static_cast<std::size_t>(which)]; }
  bool operator==(const DeviceFigures&) const = default;
};

}  // namespace ttmem::ledger
