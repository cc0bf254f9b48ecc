// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The rows of the lists: what a process has over all its devices, in the order and through the
// filter that the state asks for. Drawing and moving the selection use the same rows.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/snapshot.hpp"
#include "top/canvas.hpp"
#include "view/bars.hpp"

namespace ttmem::top {

// What grows from step to step in this process, in a line; "" = nothing, or it is not followed.
std::string leak_text(const Scene& scene, const ledger::ProcessView& process);

// L1 used; of a process that only a stock TT-Metal tells of, the buffers it asked for.
ledger::Figure l1_held(const ledger::DeviceFigures& figures);

// What is known of the sums over several devices and processes; empty while nothing is.
struct Totals {
  ledger::Figure dram, dram_capacity, l1, l1_capacity, program_l1, kernels;

  void add(const ledger::DeviceFigures& figures);
};

struct ProcessRow {
  const ledger::ProcessView* process = nullptr;
  ProcessId id = 0;
  // Over all its devices; empty if it is not known on one of them.
  ledger::Figure dram, l1, program_l1, kernels;
  double dispatches_per_second = 0;
};

// The living or the dead.
std::vector<ProcessRow> process_rows(const Scene& scene, bool alive, const ListState& list);

// As wide as the longest label of a process that is alive, or is not.
int pid_columns(const Scene& scene, bool alive);

Totals device_totals(const ledger::Snapshot& snapshot);

std::vector<const ledger::HoldingView*> kernel_rows(const Scene& scene);

std::vector<const ledger::ProgramView*> program_rows(const Scene& scene);
// What the timeline shows below them.
std::vector<const ledger::ProgramView*> ended_program_rows(const Scene& scene);

std::vector<const HoldingGroup*> group_rows(const Scene& scene);

// The steps that no folded one is around; with a filter, those that match.
std::vector<const TreeRow*> tree_rows(const Scene& scene);

std::vector<const EventLine*> event_rows(const Scene& scene);
// Where the selection of the events must be in the next frame to stay on its event. On the newest
// it follows what happens.
int event_selected_in(const Scene& scene, const Frame& next);

// Rows of the view's list, as filtered.
int row_count(const Scene& scene);

// Whether the filter occurs in one of the texts, in any case of letters.
bool matches(const std::string& filter, std::initializer_list<std::string_view> texts);

// The L1 of all worker cores, from buffers to what is free: the parts add up to `whole`.
struct L1Parts {
  std::vector<view::BarPart> parts;
  std::vector<std::string_view> names;
  std::uint64_t whole = 0;
};
L1Parts l1_parts(const ledger::DeviceView& device);

// "0", "0-3", "0,2": the devices of a process.
std::string device_list(const ledger::ProcessView& process);

}  // namespace ttmem::top
