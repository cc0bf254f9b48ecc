// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the person at the screen chose: which view, what is selected, how lists are sorted and
// filtered. Together with a frame and a size it decides every cell of the screen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "top/frame.hpp"

namespace ttmem::top {

enum class View : std::uint8_t {
  kOverview,
  kDevice,
  kPrograms,
  kProcess,
  kEvents,
  kDead,
  kJobs,
  kHosts,  // of a fleet
  kHost,   // one of them
  kHelp,
};
inline constexpr std::size_t kViews = 10;

// What the cores of a device are coloured by.
enum class CoreFigure : std::uint8_t { kUsed, kHeadroom, kProgramL1, kKernels, kRing };
inline constexpr int kCoreFigures = 5;

// A row of the overview.
enum class RowKind : std::uint8_t { kNone, kDevice, kProcess };

struct ListState {
  int selected = 0;  // index after sorting and filtering
  std::string filter;
  int sort = 0;  // which of the view's orders
  bool reversed = false;
};

struct ScreenState {
  bool fleet = false;  // the screen shows many hosts, as an engine tells them
  View view = View::kOverview;
  View before_help = View::kOverview;
  std::array<ListState, kViews> lists;

  RowKind row = RowKind::kNone;         // what is selected in the overview
  std::optional<std::uint64_t> device;  // unique id; empty: the first
  std::optional<ProcessId> process;     // empty: the first
  std::optional<std::string> host;      // of a fleet; empty: the first
  std::optional<JobId> job;             // Jobs: the one whose ranks are shown

  // The cursor, in places of the drawn chip; -1: on the first worker.
  int core_column = -1, core_row = -1;
  CoreFigure core_figure = CoreFigure::kUsed;

  bool timeline = false;           // Programs: which ran when, instead of their figures
  bool kernels = false;            // Device: the kernels alone, instead of the cores
  bool failures = false;           // Process: failures instead of holdings
  bool tree = false;               // Process: holdings by stack
  std::set<std::string> unfolded;  // of that tree, by path
  std::uint32_t open_failure = 0;  // the number of the failure whose picture is shown
  bool editing_filter = false;
  bool sort_menu = false;
  int menu_row = 0;

  bool paused = false;
  // Of a recording: the moment that is wanted, if not the one that was shown first.
  std::optional<ledger::TimeNs> at;
  bool playing = false;
  double speed = 1;
  bool exact = false;       // bytes instead of KiB, MiB and GiB
  bool colours = true;      // else bars have textures
  double interval_s = 1.0;  // 0.1 to 60
  double data_age_s = 0;    // since the source was last read

  ListState& list() { return lists[static_cast<std::size_t>(view)]; }
  const ListState& list() const { return lists[static_cast<std::size_t>(view)]; }
};

// The views that there are, in the order of their tabs; the last one is the help.
std::span<const View> views_of(const ScreenState& state);

inline constexpr double kShortestIntervalS = 0.1, kLongestIntervalS = 60.0;

// Data older than this is marked: a few intervals, and two seconds at least.
bool is_stale(const ScreenState& state);

// What the reading thread must bring for this state.
Request request_for(const ScreenState& state, const ledger::Snapshot& snapshot);

}  // namespace ttmem::top
