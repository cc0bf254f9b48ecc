// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What goes into a ledger. A source (a segment, usually) hands over plain records; ids are those of
// one process: devices, sets, allocators, strings and core sets by index, holdings by slot.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ledger/enums.hpp"

namespace ttmem::ledger {

using DeviceIndex = std::uint16_t;
using SetIndex = std::uint16_t;
using AllocatorIndex = std::uint16_t;
using StringId = std::uint32_t;  // 0 = none
using CoresId = std::uint32_t;   // 0 = all banks (buffer), or not known (kernel, range)
using ListId = std::uint32_t;    // 0 = none
using OriginId = std::uint32_t;  // a node of the tree of origins; 0 = not known
using OriginFrameId = std::uint32_t;
using SlotIndex = std::uint32_t;
using Ticks = std::uint64_t;  // of the source's clock; the source converts for display

struct CoreRange {
  std::uint8_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // both ends included
  friend bool operator==(const CoreRange&, const CoreRange&) = default;
};

// Cores of one type, disjoint ranges; or, for DRAM, bank numbers.
struct CoreSet {
  CoreType type = CoreType::kTensix;
  std::vector<CoreRange> ranges;
  std::vector<std::uint16_t> banks;
  std::uint32_t count = 0;  // cores or banks in it; without any of them, all that is known
  friend bool operator==(const CoreSet&, const CoreSet&) = default;
};

struct CoreGeometry {
  std::uint32_t l1_bytes = 0;  // 0 = not known
  std::uint32_t fixed_end = 0;
  std::uint32_t ring_base = 0;
  std::uint32_t ring_bytes = 0;
  std::uint32_t unreserved_base = 0;
  friend bool operator==(const CoreGeometry&, const CoreGeometry&) = default;
};

struct CoreRecord {
  Core core;
  Role role = Role::kWorker;
  std::uint8_t noc_x = 255, noc_y = 255;  // 255 = not known
  friend bool operator==(const CoreRecord&, const CoreRecord&) = default;
};

struct DeviceRecord {
  std::uint64_t unique_id = 0;
  std::optional<std::int32_t> metal_id;
  Arch arch = Arch::kUnknown;
  bool mock = false;
  bool open = false;
  bool numbered = false;  // its process knows its number alone: which chip it is, readers conclude
  std::string board;      // "" = not known
  std::uint16_t grid_x = 0, grid_y = 0;
  std::uint16_t dram_banks = 0;
  std::uint64_t dram_bank_bytes = 0;
  std::array<CoreGeometry, kCoreTypes> geometry;
  std::vector<CoreRecord> cores;
  friend bool operator==(const DeviceRecord&, const DeviceRecord&) = default;
};

struct DeviceSetRecord {
  std::vector<DeviceIndex> devices;  // mesh order
  std::uint16_t rows = 0, columns = 0;
  SetIndex parent = 0;
  friend bool operator==(const DeviceSetRecord&, const DeviceSetRecord&) = default;
};

struct Audit {
  std::uint64_t ours = 0, theirs = 0;  // bytes per bank
  Ticks when = 0;
  friend bool operator==(const Audit&, const Audit&) = default;
};

struct SpaceRecord {
  std::uint32_t banks = 0;  // 0 = the space does not exist
  std::uint64_t base = 0;
  std::uint64_t bank_bytes = 0;
  std::uint32_t alignment = 0;
  std::vector<Core> bank_cores;  // empty = not known
  std::optional<Audit> audit;
  friend bool operator==(const SpaceRecord&, const SpaceRecord&) = default;
};

struct AllocatorRecord {
  SetIndex set = 0;
  bool per_core = false;
  bool open = false;
  std::array<SpaceRecord, kSpaces> spaces;
  friend bool operator==(const AllocatorRecord&, const AllocatorRecord&) = default;
};

// ---- origins: which code a holding comes from, see ledger/origins.hpp ----------------------

struct OriginFrame {
  std::string file, function;  // "" = not known
  std::uint32_t line = 0;      // 0 = not known
  bool inner = false;          // of ttnn, of an import: not what people look for
  std::string text;            // "FILE:LINE FUNCTION"; made when it is set
  // Finds out the above when somebody asks for it; none: it is known.
  std::function<void(OriginFrame&)> find_out;
};

enum class OriginKind : std::uint8_t { kFrame, kRegion, kOperation, kCut, kLaunch };

struct OriginNode {
  OriginKind kind = OriginKind::kCut;
  OriginId parent = 0;
  OriginFrameId frame = 0;  // of a frame
  StringId name = 0;        // of a region, an operation or what is launched
  StringId line = 0;        // where a region was entered, if it says so
};

// ---- holdings: one a slot -------------------------------------------------------------------

struct Flags {
  bool kernel_binaries = false;
  bool trace = false;
  bool program_cache = false;
  bool requested_only = false;  // block and banks are not known
  bool estimated = false;       // in no total
  // Of a program: nobody may tell when it is launched. Of a buffer it means nothing.
  bool launches_untold = false;
};

struct BufferRecord {
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  ListId core_addresses = 0;  // per-core buffers: an address a core of `cores`, row by row
  std::uint64_t requested = 0;
  std::uint64_t block = 0;
  Ticks allocated = 0;
  SetIndex set = 0;
  AllocatorIndex allocator = 0;
  Space space = Space::kDram;
  Layout layout = Layout::kInterleaved;
  bool per_core = false;
  CoresId cores = 0;
  StringId operation = 0;  // of the launch that followed; only where the origin names none
  OriginId origin = 0;
  Flags flags;
};

struct ProgramRecord {
  std::uint64_t id = 0;
  std::uint64_t workload = 0;  // id; 0 = none
  KernelType type = KernelType::kApplication;
  SetIndex set = 0;
  std::uint32_t generation = 0;
  std::array<std::uint32_t, kCoreTypes> config_bytes{};
  Ticks registered = 0;
  bool loaded = false;  // dispatched at least once since its devices opened
  bool held = false;    // released by its owner; only a live trace still uses its ranges
  StringId name = 0;
  OriginId origin = 0;
  Flags flags;
};

struct KernelRecord {
  std::uint64_t program = 0;
  std::uint64_t hash = 0;  // 0 = not known
  std::uint32_t packed_bytes = 0, text_bytes = 0;
  std::uint8_t processor = 255;
  CoreType core_type = CoreType::kTensix;
  CoresId cores = 0;
  StringId name = 0, source = 0;
};

struct RangeRecord {
  std::uint64_t program = 0;
  SetIndex set = 0;
  std::uint32_t generation = 0;
  Part part = Part::kCb;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // on each core
  std::uint32_t page_bytes = 0;
  std::uint32_t index = 0;
  std::uint64_t viewed_buffer = 0;
  CoresId cores = 0;
};

// Dispatches of a workload, or replays of a trace: words that change without an event.
struct Launches {
  std::uint64_t count = 0;
  std::uint64_t stamp = 0;  // order among all launches of the process; 0 = never
  Ticks first = 0, last = 0;
  friend bool operator==(const Launches&, const Launches&) = default;
};

struct WorkloadRecord {
  std::uint64_t id = 0;
  SetIndex set = 0;
  std::optional<SlotIndex> binaries;
  std::uint64_t loads = 0;    // launches that loaded a program
  std::uint64_t reloads = 0;  // launches whose slice had left the ring
  OriginId origin = 0;        // of its first launch
  Launches launches;
};

struct TraceMember {
  std::uint64_t program = 0;
  SetIndex set = 0;
  friend bool operator==(const TraceMember&, const TraceMember&) = default;
};

struct TraceRecord {
  std::uint64_t id = 0;
  SetIndex set = 0;
  std::uint32_t queue = 0;
  bool capturing = false;
  ListId members = 0;   // programs that it replays
  OriginId origin = 0;  // where its capture began
  Launches launches;
};

using Record = std::variant<std::monostate, BufferRecord, ProgramRecord, KernelRecord, RangeRecord,
                            WorkloadRecord, TraceRecord>;

// ---- beside the table -----------------------------------------------------------------------

struct RingSlice {
  std::uint32_t address = 0, bytes = 0;
  std::uint64_t workload = 0;  // ~0 = a trace, or everything
};

struct RingRecord {
  CoreType core_type = CoreType::kTensix;
  std::uint32_t base = 0, bytes = 0;
  std::uint32_t largest_bytes = 0, high_water = 0;
  std::vector<RingSlice> slices;    // in use, oldest first
  std::vector<RingSlice> contents;  // what lies in it, in use or not; the last one written last
  // The next slice goes to this address if it has at most so many bytes, else to the base.
  std::uint32_t next_address = 0, next_bytes = 0;
};

struct RingManagerRecord {
  SetIndex set = 0;
  std::uint32_t queue = 0, sub_device = 0;
  bool observed = false;
  bool open = false;
  std::uint64_t evictions = 0, reloads = 0;
  std::vector<RingRecord> rings;
};

// What only the writer can know, by device.
struct DeviceCounters {
  std::array<std::uint64_t, kSpaces> peak{};
  std::uint64_t program_l1_peak = 0;
  std::uint64_t kernels_peak = 0;
  std::uint64_t dispatches_released = 0;  // of workloads that are gone
  std::uint64_t first_loads = 0, reloads = 0, captures = 0;
  std::uint64_t replays_released = 0;
};

// Totals of a process on a device, from a source without holdings (the upstream region): requested
// bytes, null where it says nothing.
struct OutsideTotals {
  std::uint64_t unique_id = 0;
  std::array<std::optional<std::uint64_t>, kSpaces> requested;
  std::optional<std::uint64_t> program_l1_reserved;  // upstream's "cb": a high-water mark
};

}  // namespace ttmem::ledger
