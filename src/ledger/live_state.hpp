// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Everything that the ledger of one process keeps, and what the files of this folder work out from
// it: events, figures, cores, holdings. Nothing outside of the folder includes it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ledger/catalog.hpp"
#include "ledger/core_grid.hpp"
#include "ledger/core_picture.hpp"
#include "ledger/event.hpp"
#include "ledger/figures.hpp"
#include "ledger/holding_index.hpp"
#include "ledger/l1_frame.hpp"
#include "ledger/live_buffers.hpp"
#include "ledger/live_programs.hpp"
#include "ledger/residency.hpp"
#include "ledger/slot_table.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

struct HoldingPlace;
struct HoldingQuestion;

struct LiveState {
  Catalog catalog;
  SlotTable slots;
  HoldingIndex index;
  LiveBuffers buffers{catalog};
  LivePrograms programs{catalog, slots};
  CoreGrids grids{catalog};
  L1Frames frames{catalog, buffers, grids};
  Residency residency{catalog, slots, programs, grids};
  std::map<std::uint32_t, RingManagerRecord> ring_managers;
  std::unordered_map<DeviceIndex, DeviceCounters> counters;

  LiveState() = default;
  LiveState(const LiveState&) = delete;  // the parts refer to each other
  LiveState& operator=(const LiveState&) = delete;
};

// ---- change_events.cpp: from "it held this and holds that now" to "program loaded"
// ---------------

// What belongs to a program on its set.
struct ProgramContents {
  std::vector<EventKernel> kernels;
  std::uint64_t footprint = 0;     // of all its kernels, whether loaded or not
  Figure cores;                    // that its kernels run on, each once; empty = not known
  std::uint64_t l1_allocated = 0;  // of its ranges, views left out; 0 if it does not count
};
// Of the program in a slot; nothing if there is none.
ProgramContents contents_of(const LiveState& live, SlotIndex slot);

struct SlotChange {
  Record before, after;
  ProgramContents contents_before, contents_after;
};
// As ProcessLedger::apply_and_tell.
std::optional<EventView> event_of(const LiveState& live, const SlotChange& change);

// ---- program_figures.cpp: program L1, kernels, launches, rings and headroom of one device -------

// What the programs of all sets of the device add up to. A closed device has no kernels loaded.
SetFigures program_sums(const LiveState& live, DeviceIndex device);

void fill_program_l1(const LiveState& live, DeviceIndex device, const SetFigures& sum,
                     DeviceFigures& figures);
void fill_kernels(const LiveState& live, DeviceIndex device, const SetFigures& sum,
                  KernelFigures& figures);
void fill_launches(const LiveState& live, DeviceIndex device, KernelFigures& figures);
void fill_rings(const LiveState& live, DeviceIndex device, DeviceFigures& figures);
// The writer's peaks; never below what is there now.
void fill_peaks(const LiveState& live, DeviceIndex device, DeviceFigures& figures);
Headroom headroom(const LiveState& live, DeviceIndex device);

// ---- core_layers.cpp, core_use.cpp: the cores of a device ---------------------------------------

// Ready to be painted: one entry per core that has an L1. With names: every buffer, circular buffer
// and slice by itself; without: only the bytes, which is much faster.
std::vector<CoreLayers> core_layers(const LiveState& live, DeviceIndex device, bool with_names);

// How much of each worker's L1 is in use, and nothing else: cheap enough to ask for every chip of
// the host again and again. By position in the device's grid; none if its cores are not known.
std::vector<CoreUse> core_use(const LiveState& live, DeviceIndex device);

// ---- holding_views.cpp: every holding and every program, one by one -----------------------------

// By slot: buffers, programs with their kernels and ranges, and traces. What counts only through
// something that is not there (a kernel without its program) is left out. From `place` on, until
// `visit` says that this is enough: then false.
bool visit_holdings(const LiveState& live, const Naming& naming, const HoldingQuestion& question,
                    HoldingPlace& place, const std::function<bool(const HoldingView&)>& visit);
std::uint64_t count_holdings(const LiveState& live, const Naming& naming,
                             const HoldingQuestion& question);
// Live programs, by slot; those that only a trace keeps are left out.
std::vector<ProgramView> program_views(const LiveState& live, const Naming& naming);

// ---- holding_names.cpp: how people call a thing: "ttnn.matmul", "CB 2 of matmul" ----------------

std::string buffer_name(const LiveState& live, const BufferRecord& buffer);
std::string program_name(const LiveState& live, const ProgramRecord& program);
// `trace`: the slot of the trace that replays the program, or kNoSlot.
std::string range_name(const LiveState& live, const RangeRecord& range,
                       const ProgramRecord& program, SlotIndex trace);
std::string standing_name(const LiveState& live, const Standing& standing);

}  // namespace ttmem::ledger
