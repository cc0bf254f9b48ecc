// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The table of figures: each figure of a device, once. Sums over processes, JSON in both
// directions, metrics, history and the tests walk it, so that a new figure costs three files: a
// member in figures.hpp and its row here, the place that counts it, and its row in
// docs/figures.md, which a test compares with this table.
//
//   for_each_figure([](const FigureGroup& group, const FigureRow& row, Figure& figure) {
//     // dram: capacity, taken, ..., kernels.fabric: count, programs, footprint, ...
//   }, figures);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ledger/figures.hpp"

namespace ttmem::ledger {

enum class Unit : std::uint8_t { kBytes, kCount };
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<Unit> = {"bytes", "count"};

// How the figure of a device follows from those of the processes on it.
enum class Merge : std::uint8_t {
  kSum,       // over the living
  kLargest,   // over the living and the dead, who know the chip and its peaks as well
  kSmallest,  // over the living
  kDerived    // never merged: worked out of the other figures
};
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<Merge> = {"sum", "largest", "smallest",
                                                                    "derived"};

// What a device shows that no living process uses.
enum class Idle : std::uint8_t { kZero, kUnknown };
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<Idle> = {"0", "unknown"};

// The family of metrics that tells it (view/metrics.cpp).
enum class Metric : std::uint8_t { kNone, kMemory, kCapacity, kFootprint, kLaunches };

// Whose past the daemon remembers (serve/history).
enum class Past : std::uint8_t { kForgotten, kOfDevices, kOfProcessesToo };

struct FigureRow {
  std::string_view name;  // in JSON, within the object of its group
  Unit unit = Unit::kBytes;
  Merge merge = Merge::kSum;
  Idle idle = Idle::kZero;
  Metric metric = Metric::kNone;
  Past past = Past::kForgotten;
  std::string_view definition;
};

// Figures that stand together, in one object of the JSON.
struct FigureGroup {
  std::string_view path;           // "dram", "kernels.fabric"
  std::string_view label;          // for people
  std::optional<Space> space;      // if they are those of a memory space
  bool past_of_processes = false;  // else Past::kOfProcessesToo means devices only
};

// A row and where its figure lives.
template <typename Group>
struct FigureOf {
  Figure Group::* member;
  FigureRow row;
};

namespace figure_table {

using enum Unit;
using enum Merge;
using enum Idle;
using enum Metric;
using enum Past;

inline constexpr std::array kOfSpace = {
    FigureOf{&SpaceFigures::capacity,
             {"capacity", kBytes, kLargest, kUnknown, kCapacity, kForgotten,
              "bytes per bank x banks, which the allocator can give out"}},
    FigureOf{&SpaceFigures::taken,
             {"taken", kBytes, kSum, kZero, kMemory, kOfProcessesToo,
              "block x all banks, which the allocator can no longer give out"}},
    FigureOf{
        &SpaceFigures::occupied,
        {"occupied", kBytes, kSum, kZero, kMemory, kForgotten, "block x banks that hold data"}},
    FigureOf{&SpaceFigures::requested,
             {"requested", kBytes, kSum, kZero, kMemory, kOfDevices,
              "size as requested by the programs"}},
    FigureOf{
        &SpaceFigures::peak,
        {"peak", kBytes, kLargest, kUnknown, kMemory, kForgotten, "the most that was ever taken"}},
    FigureOf{&SpaceFigures::count,
             {"count", kCount, kSum, kZero, kNone, kForgotten, "live buffers"}},
    FigureOf{&SpaceFigures::largest_free,
             {"largest_free", kBytes, kSmallest, kUnknown, kNone, kForgotten,
              "largest free block in one bank"}},
};

inline constexpr std::array kOfL1Total = {
    FigureOf{&DeviceFigures::l1_capacity,
             {"capacity", kBytes, kLargest, kUnknown, kCapacity, kForgotten,
              "capacity of L1 and L1_SMALL together, which buffers and programs share"}},
};
inline constexpr FigureRow kL1Used = {"used",
                                      kBytes,
                                      kDerived,
                                      kZero,
                                      kMemory,
                                      kForgotten,
                                      "L1 taken + L1_SMALL taken + program L1 resident"};

inline constexpr std::array kOfProgramL1 = {
    FigureOf{&ProgramL1Figures::resident,
             {"resident", kBytes, kSum, kZero, kMemory, kOfProcessesToo,
              "on each core that of the program or trace launched there last, up to the buffers"}},
    FigureOf{&ProgramL1Figures::reserved,
             {"reserved", kBytes, kSum, kZero, kMemory, kOfDevices,
              "on each core the union over all live programs"}},
    FigureOf{&ProgramL1Figures::allocated,
             {"allocated", kBytes, kSum, kZero, kMemory, kForgotten,
              "sum over live programs of size x cores, which grows with the program cache"}},
    FigureOf{&ProgramL1Figures::peak,
             {"peak", kBytes, kLargest, kUnknown, kMemory, kForgotten,
              "sum over cores of the largest that was ever launched there"}},
    FigureOf{
        &ProgramL1Figures::count,
        {"count", kCount, kSum, kZero, kNone, kForgotten, "live programs that have program L1"}},
};

inline constexpr std::array kOfKernelType = {
    FigureOf{&KernelTypeFigures::count,
             {"count", kCount, kSum, kZero, kNone, kForgotten, "kernels of loaded programs"}},
    FigureOf{&KernelTypeFigures::programs,
             {"programs", kCount, kSum, kZero, kNone, kForgotten, "loaded programs"}},
    FigureOf{&KernelTypeFigures::footprint,
             {"footprint", kBytes, kSum, kZero, kFootprint, kOfProcessesToo,
              "binary bytes x cores, an upper bound that is in no total"}},
};

inline constexpr std::array kOfKernels = {
    FigureOf{&KernelFigures::registered,
             {"registered", kCount, kSum, kZero, kNone, kForgotten,
              "programs that were never launched and have no footprint"}},
    FigureOf{&KernelFigures::in_dram,
             {"in_dram", kBytes, kSum, kZero, kNone, kForgotten,
              "DRAM taken by buffers that hold binaries, a part of DRAM taken"}},
    FigureOf{&KernelFigures::code_bytes,
             {"code_bytes", kBytes, kSum, kZero, kNone, kForgotten,
              "binary bytes of all loaded kernels, each once whatever its cores"}},
    FigureOf{&KernelFigures::unique_bytes,
             {"unique_bytes", kBytes, kSum, kZero, kNone, kForgotten,
              "binary bytes, equal code of one process counted once"}},
    FigureOf{&KernelFigures::dispatches,
             {"dispatches", kCount, kSum, kZero, kLaunches, kForgotten, "launches of programs"}},
    FigureOf{&KernelFigures::first_loads,
             {"first_loads", kCount, kSum, kZero, kLaunches, kForgotten,
              "launches that loaded a program"}},
    FigureOf{&KernelFigures::cache_hits,
             {"cache_hits", kCount, kSum, kZero, kLaunches, kForgotten,
              "launches of a program that was loaded"}},
    FigureOf{&KernelFigures::reloads,
             {"reloads", kCount, kSum, kZero, kLaunches, kForgotten,
              "launches whose slice had left the ring and was written again"}},
    FigureOf{&KernelFigures::evictions,
             {"evictions", kCount, kSum, kZero, kNone, kForgotten,
              "slices that left a ring while their program lived"}},
    FigureOf{&KernelFigures::captures,
             {"captures", kCount, kSum, kZero, kNone, kForgotten, "programs captured in traces"}},
    FigureOf{&KernelFigures::replays,
             {"replays", kCount, kSum, kZero, kNone, kForgotten, "replays of traces"}},
};

inline constexpr FigureRow kOfCoreType = {
    "", kBytes, kSum, kZero, kNone, kForgotten, "footprint on cores of one type"};

inline constexpr FigureGroup kL1Total = {"l1_total", "L1", {}};
inline constexpr FigureGroup kProgramL1 = {"program_l1", "Program L1", {}, true};
inline constexpr FigureGroup kKernels = {"kernels", "Kernels", {}};
inline constexpr FigureGroup kByCoreType = {"kernels.by_core_type", "Kernels", {}};
inline constexpr FigureGroup kEstimated = {"kernels.estimated", "Estimated kernels", {}};
inline constexpr FigureGroup kSystem = {"kernels.system", "System kernels", {}};
inline constexpr FigureGroup kTotal = {"kernels.total", "All kernels", {}};

inline constexpr std::array kSpaceGroups = {
    FigureGroup{"dram", "DRAM", Space::kDram, true},
    FigureGroup{"l1", "L1", Space::kL1, true},
    FigureGroup{"l1_small", "L1_SMALL", Space::kL1Small},
    FigureGroup{"trace", "Trace memory", Space::kTrace},
};
inline constexpr std::array<FigureGroup, kKernelTypes> kTypeGroups = {{
    {"kernels.application", "Application kernels", {}, true},
    {"kernels.fabric", "Fabric kernels", {}, true},
    {"kernels.dispatch", "Dispatch kernels", {}, true},
}};

}  // namespace figure_table

// Calls visit(group, row, figure of the first, figure of the second, ...) for every figure that is
// kept, in the order of the JSON.
template <typename Visit, typename... Devices>
void for_each_figure(Visit visit, Devices&... devices) {
  using namespace figure_table;
  for (const FigureGroup& group : kSpaceGroups) {
    for (const auto& [member, row] : kOfSpace) {
      visit(group, row, (devices.space(*group.space).*member)...);
    }
  }
  for (const auto& [member, row] : kOfL1Total) visit(kL1Total, row, (devices.*member)...);
  for (const auto& [member, row] : kOfProgramL1) {
    visit(kProgramL1, row, (devices.program_l1.*member)...);
  }
  for (std::size_t type = 0; type < kKernelTypes; ++type) {
    for (const auto& [member, row] : kOfKernelType) {
      visit(kTypeGroups[type], row, (devices.kernels.by_type[type].*member)...);
    }
  }
  for (auto [member, row] : kOfKernelType) {
    row.metric = Metric::kNone;
    row.past = Past::kForgotten;
    visit(kEstimated, row, (devices.kernels.estimated.*member)...);
  }
  for (const auto& [member, row] : kOfKernels) visit(kKernels, row, (devices.kernels.*member)...);
  for (std::size_t type = 0; type < kCoreTypes; ++type) {
    FigureRow row = kOfCoreType;
    row.name = name(static_cast<CoreType>(type));
    visit(kByCoreType, row, devices.kernels.by_core_type[type]...);
  }
}

// The same for the figures that are worked out of the others.
template <typename Visit>
void for_each_derived_figure(Visit visit, const DeviceFigures& figures) {
  using namespace figure_table;
  visit(kL1Total, kL1Used, figures.l1_used());
  for (const auto& [group, sum] :
       {std::pair{&kSystem, figures.kernels.system()}, {&kTotal, figures.kernels.total()}}) {
    for (auto [member, row] : kOfKernelType) {
      row.merge = Merge::kDerived;
      row.metric = Metric::kNone;
      visit(*group, row, sum.*member);
    }
  }
}

// Calls visit(i, now, peak) for each figure whose highest value is a figure too, i < kPeaks.
inline constexpr std::size_t kPeaks = kSpaces + 1;
template <typename Visit>
void for_each_peak(Visit visit, DeviceFigures& figures) {
  for (std::size_t i = 0; i < kSpaces; ++i) {
    visit(i, figures.spaces[i].taken, figures.spaces[i].peak);
  }
  visit(kSpaces, figures.program_l1.resident, figures.program_l1.peak);
}

// ---- rings: one by one, never merged ----------------------------------------------------------

struct RingFigureRow {
  std::string_view name;
  std::uint64_t RingFigures::* member;
};

inline constexpr std::array kRingFigures = {
    RingFigureRow{"queue", &RingFigures::queue},
    RingFigureRow{"sub_device", &RingFigures::sub_device},
    RingFigureRow{"capacity", &RingFigures::capacity},
    RingFigureRow{"used", &RingFigures::used},
    RingFigureRow{"programs", &RingFigures::programs},
    RingFigureRow{"largest_program", &RingFigures::largest_program},
    RingFigureRow{"high_water", &RingFigures::high_water},
    RingFigureRow{"free", &RingFigures::free},
    RingFigureRow{"largest_free", &RingFigures::largest_free},
    RingFigureRow{"would_evict", &RingFigures::would_evict},
    RingFigureRow{"evictions", &RingFigures::evictions},
    RingFigureRow{"reloads", &RingFigures::reloads},
};

}  // namespace ttmem::ledger
