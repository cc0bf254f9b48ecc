// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What processes hold, added up by the code that it comes from: which line, which operation of
// ttnn, which region, which stack. Every byte that is in a total of a device is in exactly one of
// these rows, so they add up to it; what comes from nowhere known has a row without a path.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ledger/assemble.hpp"
#include "ledger/figures.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

enum class OriginBy : std::uint8_t { kLine, kFile, kOperation, kRegion, kStack };
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<OriginBy> = {"line", "file", "operation",
                                                                       "region", "stack"};

struct OriginSpace {
  Figure taken;               // as SpaceFigures::taken
  Figure recent;              // the part of it that came in the last minute
  std::uint64_t buffers = 0;  // also those whose bytes are not known
  // Taken when the devices of each process were fullest; empty = not known.
  Figure at_peak;
};

// Bytes on all chosen devices together.
struct OriginTotal {
  // One step of a line, a file, an operation, or a region with those around it; or a whole stack,
  // from the outermost step inwards. Empty = not known.
  std::vector<std::string> path;
  // By operation: of some of its buffers the name is that of the launch which followed on the same
  // thread.
  bool derived = false;
  std::vector<Owner> processes;  // whose, each once, by pid
  std::array<OriginSpace, kSpaces> spaces;
  std::uint64_t programs = 0;
  std::uint64_t program_l1 = 0;  // allocated, as ProgramL1Figures has it
  std::uint64_t kernels = 0;     // footprint

  OriginSpace& space(Space which) { return spaces[static_cast<std::size_t>(which)]; }
  const OriginSpace& space(Space which) const { return spaces[static_cast<std::size_t>(which)]; }
  std::uint64_t taken() const;    // in all spaces of a device
  std::uint64_t at_peak() const;  // likewise
  // What lists go by, the largest first.
  std::array<std::uint64_t, 4> weight() const { return {taken(), program_l1, kernels, at_peak()}; }
};

// When a space of a process was fullest, on the chosen devices that rise and fall together.
struct OriginPeak {
  Owner process = nobody();
  std::vector<std::uint32_t> devices;  // of the document
  Space space = Space::kDram;
  TimeNs time = 0;
  std::uint64_t bytes = 0;    // on each device
  std::uint64_t in_rows = 0;  // of these, what the rows tell; less while a peak is being reached
};

struct OriginTotals {
  std::vector<OriginTotal> rows;  // the one that takes the most first
  std::vector<OriginPeak> peaks;
};

// Adds everything but the path.
void add_to(OriginTotal& sum, const OriginTotal& part);

struct OriginQuestion {
  OriginBy by = OriginBy::kLine;
  std::optional<std::uint32_t> device;         // of the document; empty = all
  std::function<bool(const ProcessName&)> of;  // whose; empty = the living
};

OriginTotals totals_by_origin(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                              const OriginQuestion& question);

}  // namespace ttmem::ledger
