// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/device_card.hpp"
#include "top/list_rows.hpp"
#include "top/listing.hpp"
#include "top/sort_orders.hpp"
#include "top/views.hpp"
#include "view/bars.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

// Lines a device gets, and how many devices are seen at once.
struct CardPlan {
  int lines = 1;
  int shown = 0;
};

CardPlan plan_cards(int devices, int rows, int columns) {
  const int room = std::max(1, rows * 11 / 20 - 2);
  for (const int lines : {4, 2, 1}) {
    if (lines == 1 && columns < 78) break;
    if (devices * lines <= room) return {lines, devices};
  }
  const int lines = columns < 78 ? 2 : 1;
  return {lines, std::min(devices, std::max(1, room / lines))};
}

int selected_device(const Scene& scene) {
  const auto& devices = scene.frame.snapshot.devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].unique_id == scene.state.device) return static_cast<int>(i);
  }
  return 0;
}

std::string devices_note(const Scene& scene, int room) {
  const Totals totals = device_totals(scene.frame.snapshot);
  std::string note = fmt::format("all: DRAM {} of {}   L1 {} of {}", scene.bytes(totals.dram),
                                 scene.bytes(totals.dram_capacity), scene.bytes(totals.l1),
                                 scene.bytes(totals.l1_capacity));
  if (view::drawn_columns(note) <= room) return note;
  return fmt::format("all: DRAM {}   L1 {}", scene.bytes(totals.dram), scene.bytes(totals.l1));
}

// Returns the rows it took.
int draw_devices(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto& devices = scene.frame.snapshot.devices;
  const int count = static_cast<int>(devices.size());
  const CardPlan plan = plan_cards(count, place.rows, place.columns - 4);
  const int rows = plan.lines * plan.shown + 2;
  const std::string title =
      plan.shown < count ? fmt::format("Devices {} of {}", plan.shown, count) : "Devices";
  const view::Rect inside =
      draw_panel(canvas, {place.x, place.y, place.columns, rows}, title,
                 devices_note(scene, place.columns - view::drawn_columns(title) - 12));
  const int first = first_shown(selected_device(scene), count, plan.shown);
  for (int i = 0; i < plan.shown; ++i) {
    const ledger::DeviceView& device = devices[static_cast<std::size_t>(first + i)];
    const view::Rect card{inside.x + 1, inside.y + i * plan.lines, inside.columns - 2, plan.lines};
    draw_device_card(canvas, card, scene, device);
    if (scene.state.row == RowKind::kDevice && scene.device() == &device) {
      canvas.grid.put_behind({card.x, card.y, card.columns, 1}, view::Ink::kSelection);
    }
    canvas.zones.push_back({card, ZoneKind::kRow, first + i});
  }
  return rows;
}

std::string rate_text(double per_second) {
  if (per_second <= 0) return "-";
  if (per_second < 10) return fmt::format("{:.1f}", per_second);
  if (per_second < 100000) return fmt::format("{:.0f}", per_second);
  return fmt::format("{:.0f}k", per_second / 1000);
}

// The sparklines show what the list is sorted by.
bool shows_l1(const ListState& list) {
  const std::string_view title = process_orders()[static_cast<std::size_t>(list.sort)].title;
  return title == "L1 used" || title == "program L1";
}

std::vector<ListColumn> process_columns(const Scene& scene) {
  const int bytes = scene.state.exact ? 15 : 10;
  return {{"PID", pid_columns(scene, true), true, 0, 0, "pid"},
          {"USER", 8, false, 7, 0, "user"},
          {"NAME", 14, false, 0, 5, "name"},
          {"DEVICES", 7, false, 4, 0, ""},
          {"DRAM", bytes, true, 0, 0, "DRAM"},
          {"L1 USED", bytes, true, 0, 0, "L1 used"},
          {"of it PROG", bytes, true, 3, 0, "program L1"},
          {"KERNELS", bytes, true, 5, 0, "kernels"},
          {"APP/FAB/DISP", 12, true, 10, 0, ""},
          {"DISP/S", 7, true, 2, 0, "dispatches/s"},
          {"SOURCE", 8, false, 9, 0, ""},
          {"AGE", 9, true, 8, 0, "age"},
          {shows_l1(scene.state.list()) ? "L1, 2 MIN" : "DRAM, 2 MIN", 12, false, 6, 4, ""}};
}

std::string kernel_counts(const ledger::ProcessView& process) {
  std::array<std::uint64_t, ledger::kKernelTypes> counts{};
  for (const auto& device : process.devices) {
    for (std::size_t type = 0; type < counts.size(); ++type) {
      counts[type] += device.figures.kernels.by_type[type].count.value_or(0);
    }
  }
  return fmt::format("{}/{}/{}", counts[0], counts[1], counts[2]);
}

view::Look name_look(const ledger::ProcessView& process, bool leaks) {
  if (!process.failures.empty()) return looks::kBad;
  if (leaks) return looks::kWarn;
  if (process.segment.empty()) return looks::kWarn;  // only others tell of it
  const bool doubtful = process.tracking.exact == false || process.tracking.unrecorded > 0 ||
                        !process.tracking.hooks_missing.empty();
  return doubtful ? looks::kWarn : looks::kText.bold();
}

std::vector<ListCell> process_cells(const Scene& scene, const ProcessRow& row) {
  const ledger::ProcessView& process = *row.process;
  const Track* track = scene.history.process(row.id);
  const bool l1 = shows_l1(scene.state.list());
  const bool leaks = !leak_text(scene, process).empty();
  const auto bytes = [&](const ledger::Figure& figure) {
    return process.devices.empty() ? "-" : scene.bytes(figure);
  };
  const auto spark = [track, l1](view::Grid& grid, int x, int y, int columns) {
    if (track == nullptr) return;
    const Series& series = l1 ? track->l1 : track->dram;
    view::draw_sparkline(grid, x, y, series.columns(static_cast<std::size_t>(columns)),
                         series.largest(), {l1 ? view::Ink::kBuffers : view::Ink::kDram});
  };
  return {{process.label(), looks::kSoft, {}},
          {view::user_text(process), looks::kSoft, {}},
          {(leaks ? "▲ " : "") + process.name, name_look(process, leaks), {}},
          {device_list(process), looks::kText, {}},
          {bytes(row.dram), looks::kText, {}},
          {bytes(row.l1), looks::kText, {}},
          {bytes(row.program_l1), looks::kSoft, {}},
          {bytes(row.kernels), looks::kText, {}},
          {kernel_counts(process), looks::kSoft, {}},
          {rate_text(row.dispatches_per_second), looks::kText, {}},
          {view::sources_text(process.sources), looks::kSoft, {}},
          {view::age_text(process.started, scene.frame.snapshot.time), looks::kSoft, {}},
          {"", looks::kText, spark}};
}

std::vector<ListCell> total_cells(const Scene& scene, const std::vector<ProcessRow>& rows) {
  Totals totals;
  double rate = 0;
  for (const ProcessRow& row : rows) {
    for (const auto& device : row.process->devices) totals.add(device.figures);
    rate += row.dispatches_per_second;
  }
  const view::Look look = looks::kText.bold();
  // Of no process it is nothing; what no process knows is not known.
  const auto sum = [&](const ledger::Figure& figure) {
    return ListCell{scene.bytes(rows.empty() ? ledger::Figure(0) : figure), look, {}};
  };
  return {{"Σ", looks::kTitle, {}},
          {},
          {fmt::format("{} shown", rows.size()), looks::kSoft, {}},
          {},
          sum(totals.dram),
          sum(totals.l1),
          sum(totals.program_l1),
          sum(totals.kernels),
          {},
          {rate_text(rate), look, {}},
          {},
          {},
          {}};
}

std::string processes_note(const Scene& scene) {
  std::string note;
  std::size_t dead = 0;
  for (const auto& process : scene.frame.snapshot.processes) dead += process.alive ? 0 : 1;
  if (dead > 0) note = fmt::format("{} ended", dead);
  if (const auto& unreadable = scene.frame.snapshot.unreadable; !unreadable.empty()) {
    note += (note.empty() ? "" : ", ") + view::count_text(unreadable.size(), "unreadable segment");
  }
  return note;
}

void draw_processes(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const ListState& list = scene.state.list();
  const std::vector<ProcessRow> rows = process_rows(scene, true, list);
  const view::Rect inside =
      draw_panel(canvas, place, fmt::format("Processes {}", rows.size()), processes_note(scene));
  Listing listing = listing_of(scene.state, rows.size());
  listing.selected = -1;
  listing.columns = process_columns(scene);
  listing.first_zone = static_cast<int>(scene.frame.snapshot.devices.size());
  if (scene.state.row == RowKind::kProcess) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].id == scene.state.process) listing.selected = static_cast<int>(i);
    }
  }
  listing.row = [&](int row) { return process_cells(scene, rows[static_cast<std::size_t>(row)]); };
  listing.footer = total_cells(scene, rows);
  draw_list(canvas, {inside.x + 1, inside.y, inside.columns - 2, inside.rows}, listing);
}

// What the processes leave over is for the history of all devices.
int chart_rows(const Scene& scene, int rows) {
  const int processes = static_cast<int>(process_rows(scene, true, scene.state.list()).size()) + 5;
  const int spare = rows - processes;
  return spare < 5 ? 0 : std::min(spare, std::max(14, rows / 2));
}

}  // namespace

void draw_overview(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const ledger::Snapshot& snapshot = scene.frame.snapshot;
  if (snapshot.devices.empty() && snapshot.processes.empty()) {
    const view::Rect inside = draw_panel(canvas, place, "Devices");
    if (snapshot.time == 0) return draw_centred(canvas, inside, {"reading …"});
    draw_centred(canvas, inside,
                 {snapshot.unreadable.empty()
                      ? "Nothing is tracked yet."
                      : "Nothing that can be read is tracked: ttmem status tells the rest.",
                  "", "Start a program with   ttmem run python model.py",
                  "or try the built-in workload   ttmem demo --scenario busy"});
    return;
  }
  const int devices = draw_devices(canvas, place, scene);
  const int charts = chart_rows(scene, place.rows - devices);
  const view::Rect rest{place.x, place.y + devices, place.columns, place.rows - devices - charts};
  draw_processes(canvas, rest, scene);
  if (charts == 0) return;
  draw_charts(canvas, {place.x, rest.bottom(), place.columns, charts},
              "All devices, last 2 minutes", &scene.history.total());
}

}  // namespace ttmem::top
