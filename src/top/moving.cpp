// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <climits>
#include <cstdlib>

#include "top/chip.hpp"
#include "top/controls.hpp"
#include "top/list_rows.hpp"

namespace ttmem::top {
namespace {

int count_of(const auto& container) { return static_cast<int>(container.size()); }

// Devices first, then the processes as they are listed.
void select_overview_row(ScreenState& state, const Shown& shown, int row) {
  const Scene scene{shown.frame, shown.history, state};
  const auto& devices = shown.frame.snapshot.devices;
  const auto processes = process_rows(scene, true, state.list());
  row = std::clamp(row, 0, std::max(0, count_of(devices) + count_of(processes) - 1));
  if (row < count_of(devices)) {
    state.row = RowKind::kDevice;
    state.device = devices[static_cast<std::size_t>(row)].unique_id;
  } else if (!processes.empty()) {
    state.row = RowKind::kProcess;
    state.process = processes[static_cast<std::size_t>(row - count_of(devices))].id;
  }
}

}  // namespace

int overview_row(const ScreenState& state, const Shown& shown) {
  const Scene scene{shown.frame, shown.history, state};
  const auto& devices = shown.frame.snapshot.devices;
  if (state.row == RowKind::kNone) return -1;
  for (int i = 0; state.row == RowKind::kDevice && i < count_of(devices); ++i) {
    if (devices[static_cast<std::size_t>(i)].unique_id == state.device) return i;
  }
  const auto processes = process_rows(scene, true, state.list());
  for (int i = 0; state.row == RowKind::kProcess && i < count_of(processes); ++i) {
    if (processes[static_cast<std::size_t>(i)].id == state.process) return count_of(devices) + i;
  }
  return -1;
}

void select_row(ScreenState& state, const Shown& shown, int row) {
  if (state.view == View::kOverview) return select_overview_row(state, shown, row);
  int rows = row_count({shown.frame, shown.history, state});
  if (state.view == View::kHelp) rows -= shown.rows - kRowsAround - 1;  // it is scrolled
  state.list().selected = std::clamp(row, 0, std::max(0, rows - 1));
}

void move_core(ScreenState& state, const Shown& shown, int columns, int rows) {
  if (!shown.frame.device) return;
  const Chip chip = place_cores(shown.frame.device->cores);
  const PlacedCore* from = chip.nearest(state.core_column, state.core_row);
  if (from == nullptr) return;
  // Over places without a core, to the next one in this direction.
  int column = from->column + columns, row = from->row + rows;
  while (column >= 0 && row >= 0 && column < chip.columns && row < chip.rows) {
    if (chip.at(column, row) != nullptr) {
      state.core_column = column;
      state.core_row = row;
      return;
    }
    column += columns;
    row += rows;
  }
}

bool on_cores(const ScreenState& state) { return state.view == View::kDevice && !state.kernels; }

void move_rows(ScreenState& state, const Shown& shown, int by) {
  if (on_cores(state)) {
    for (int i = 0; i < std::min(std::abs(by), 256); ++i)
      move_core(state, shown, 0, by < 0 ? -1 : 1);
    return;
  }
  // The list of events grows at its lower end, and its selection counts from there.
  const bool upwards = state.view == View::kEvents;
  const int now =
      state.view == View::kOverview ? overview_row(state, shown) : state.list().selected;
  const long target = static_cast<long>(now) + (upwards ? -static_cast<long>(by) : by);
  select_row(state, shown, static_cast<int>(std::clamp<long>(target, 0, INT_MAX)));
}

}  // namespace ttmem::top
