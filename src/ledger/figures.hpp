// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures of a device: of one process on it, or of everybody. docs/figures.md defines each one
// with a worked example. A figure that is not known is empty, never 0. figure_table.hpp has a row
// for each of them, which says how it is added up, told and kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/enums.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {

using Figure = std::optional<std::uint64_t>;

// What is known of a sum, if either part may not be known.
inline void add_to(Figure& sum, const Figure& part) {
  if (part) sum = add(sum.value_or(0), *part);
}

// A sum that is told as the whole: not known as soon as one part is not.
class WholeSum {
 public:
  void add(const Figure& part) {
    known_ = known_ && part.has_value();
    sum_ += part.value_or(0);
  }
  Figure result() const { return known_ ? Figure(narrow(sum_)) : std::nullopt; }

 private:
  Wide sum_ = 0;
  bool known_ = true;
};

// What the bytes of a sum are based on.
enum class Basis : std::uint8_t { kBlocks, kRequested, kMixed };
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<Basis> = {"blocks", "requested", "mixed"};
// How the peak of a device was found: exact while one process lived, else the largest total seen.
enum class PeakBasis : std::uint8_t { kExact, kObserved };
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<PeakBasis> = {"exact", "observed"};

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
  Figure count;      // kernels of loaded programs
  Figure programs;   // loaded programs
  Figure footprint;  // packed bytes x cores: an upper bound of bytes written
  bool operator==(const KernelTypeFigures&) const = default;
};

// A binary that several kernels have.
struct SharedCode {
  std::string name;           // of one of them
  std::uint64_t bytes = 0;    // of the binary
  std::uint64_t kernels = 0;  // that have it
  // What is the same once more.
  std::uint64_t repeated() const { return narrow(Wide{bytes} * (kernels - 1)); }
  bool operator==(const SharedCode&) const = default;
};
inline constexpr std::size_t kSharedCodeTold = 5;  // those that repeat most

void keep_most_repeated(std::vector<SharedCode>& shared);

struct KernelFigures {
  std::array<KernelTypeFigures, kKernelTypes> by_type;
  std::array<Figure, kCoreTypes> by_core_type;  // footprint
  KernelTypeFigures estimated;                  // somebody's guesses, in none of the others
  Figure registered;                            // programs that were never dispatched: 0 bytes
  Figure in_dram;                               // buffers that hold binaries: a part of DRAM taken
  Figure code_bytes;                            // packed bytes of all kernels
  Figure unique_bytes;                          // packed bytes, equal code counted once
  Figure dispatches, first_loads, cache_hits, reloads, evictions, captures, replays;
  bool stand_in = false;                // built by a stand-in compiler: sizes are not true
  std::vector<SharedCode> shared_code;  // what repeats most first

  const KernelTypeFigures& of(KernelType type) const {
    return by_type[static_cast<std::size_t>(type)];
  }
  KernelTypeFigures system() const;  // fabric + dispatch
  KernelTypeFigures total() const;
  bool operator==(const KernelFigures&) const = default;
};

struct RingFigures {
  CoreType core_type = CoreType::kTensix;
  std::uint64_t queue = 0, sub_device = 0;
  std::uint64_t capacity = 0;
  std::uint64_t used = 0;             // bytes of the slices in use
  std::uint64_t programs = 0;         // slices in use
  std::uint64_t largest_program = 0;  // ever reserved
  std::uint64_t high_water = 0;
  std::uint64_t free = 0;          // bytes without a slice of a program that lives
  std::uint64_t largest_free = 0;  // the largest program that could come next and evict none
  std::uint64_t would_evict = 0;   // programs that the largest one would evict if it came next
  std::uint64_t evictions = 0, reloads = 0;
  bool observed = false;  // else simulated
  std::int64_t headroom() const { return difference(capacity, largest_program); }
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
  ProgramL1Figures program_l1;
  KernelFigures kernels;
  std::vector<RingFigures> rings;
  Headroom headroom;
  Basis basis = Basis::kBlocks;
  PeakBasis peak_basis = PeakBasis::kExact;

  const SpaceFigures& space(Space which) const { return spaces[static_cast<std::size_t>(which)]; }
  SpaceFigures& space(Space which) { return spaces[static_cast<std::size_t>(which)]; }
  // L1 taken + L1_SMALL taken + program L1 resident; empty if one of them is not known.
  Figure l1_used() const;
  bool operator==(const DeviceFigures&) const = default;
};

// A device has a ring per command queue, sub-device and core type. Where there is room for one
// only, it is the worker ring that is fullest; null if none is known.
const RingFigures* fullest_worker_ring(const std::vector<RingFigures>& rings);

// The figures of a device, from those of the processes on it: each follows the rule of its row in
// figure_table.hpp. Rings stay what they are, one by one.
class DeviceSum {
 public:
  // Every process counts with what does not depend on its being alive: capacities and peaks.
  void add(const DeviceFigures& process, bool alive);
  // `only_one`: no other process, dead or alive, is known on this device; its peaks are the
  // device's.
  DeviceFigures result(bool only_one);

 private:
  DeviceFigures sum_;
  bool any_alive_ = false;
};

}  // namespace ttmem::ledger
