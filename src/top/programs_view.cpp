// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "top/listing.hpp"
#include "top/timeline.hpp"
#include "top/views.hpp"
#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

std::vector<ListColumn> columns(const Scene& scene) {
  const int bytes = scene.state.exact ? 12 : 10;
  return {{"PROGRAM", 14, false, 0, 2, "name"},
          {"TYPE", 11, false, 8, 0, ""},
          {"PROCESS", 14, false, 5, 1, ""},
          {"DEVICES", 7, false, 6, 0, ""},
          {"CORES", 6, true, 3, 0, "cores"},
          {"L1/CORE", bytes, true, 0, 0, "L1 per core"},
          {"KERNELS", bytes, true, 2, 0, "kernels"},
          {"RING SLICE", bytes, true, 9, 0, ""},
          {"DISPATCHES", 11, true, 0, 0, "dispatches"},
          {"HITS", 8, true, 11, 0, ""},
          {"RELOADS", 7, true, 10, 0, ""},
          {"REPLAYS", 8, true, 13, 0, "replays"},
          {"DISP/S", 7, true, 4, 0, "dispatches/s"},
          {"NOW/S", 8, true, 1, 0, "launches now"},
          {"FIRST", 9, true, 7, 0, "first dispatch"},
          {"LAST", 9, true, 1, 0, "last dispatch"},
          {"LINE", 16, false, 12, 1, ""}};
}

std::string program_title(const ledger::ProgramView& program) {
  return program.name.empty() ? "program " + view::told_id_text(program.id) : program.name;
}

// Programs of one operation have one name; there the id tells which is which.
std::vector<std::string> titles_of(const std::vector<const ledger::ProgramView*>& programs,
                                   int columns) {
  const auto all = static_cast<std::size_t>(columns);
  std::map<std::string, int> found;
  for (const ledger::ProgramView* program : programs) ++found[program->name];
  std::vector<std::string> titles;
  for (const ledger::ProgramView* program : programs) {
    std::string title = program_title(*program);
    const std::string id = " " + view::told_id_text(program->id);
    const std::size_t room = all - std::min(all, id.size());
    if (!program->name.empty() && found[program->name] > 1) title = view::cut(title, room) + id;
    titles.push_back(std::move(title));
  }
  return titles;
}

std::string recent_text(const ledger::ProgramView& program) {
  if (!program.recent_per_second) return "?";
  return *program.recent_per_second > 0 ? fmt::format("{:.1f}", *program.recent_per_second) : "-";
}

std::string rate_text(const ledger::ProgramView& program) {
  if (!program.dispatches) return "?";
  const double rate = program.dispatches_per_second;
  return rate > 0 ? fmt::format("{:.1f}", rate) : "-";
}

std::vector<ListCell> cells(const Scene& scene, const ledger::ProgramView& program) {
  const ledger::TimeNs now = scene.frame.snapshot.time;
  const view::Look look = program.loaded ? looks::kText : looks::kFaint;
  return {
      {program_title(program), program.loaded ? looks::kText.bold() : looks::kFaint, {}},
      {std::string(view::title(program.type)), type_look(program.type), {}},
      {fmt::format("{} {}", program.process->label(), program.process->name), looks::kSoft, {}},
      {view::id_list(program.devices), look, {}},
      {view::exact_text(view::known_cores(program)), look, {}},
      {scene.bytes(view::known_l1_per_core(program)), look, {}},
      {scene.bytes(program.footprint), look, {}},
      {scene.bytes(view::known_ring_bytes(program)[0]), looks::kSoft, {}},
      {program.loaded ? view::exact_text(program.dispatches) : "registered", look, {}},
      {view::exact_text(program.cache_hits), look, {}},
      {view::exact_text(program.reloads), look, {}},
      {view::exact_text(program.replays), look, {}},
      {rate_text(program), look, {}},
      {recent_text(program), look, {}},
      {view::launch_age_text(program.dispatches, program.first_dispatch, now), looks::kSoft, {}},
      {view::launch_age_text(program.dispatches, program.last_dispatch, now), looks::kSoft, {}},
      {program.line, looks::kFaint, {}}};
}

// ---- which program ran when
// ---------------------------------------------------------------------

// Failures that name no program have a line of their own, above the programs.
bool draw_failures(Canvas& canvas, const view::Rect& line, int x, const Scene& scene,
                   const TimeScale& scale) {
  bool any = false;
  for (const ledger::ProcessView& process : scene.frame.snapshot.processes) {
    for (const ledger::FailureView& failure : process.failures) {
      const int column = scale.column_of(failure.time);
      if (failure.program || column < 0) continue;
      canvas.grid.put(x + column, line.y, U'!', looks::kBad);
      any = true;
    }
  }
  if (any) canvas.grid.text(line.x, line.y, "failures of no program", looks::kBad, x - line.x - 1);
  return any;
}

void draw_timelines(Canvas& canvas, const view::Rect& place, const Scene& scene,
                    const std::vector<const ledger::ProgramView*>& rows) {
  constexpr int kRateColumns = 8;
  const int name = std::clamp(place.columns / 4, 16, 32);
  const int before = name + kColumnGap + kRateColumns + kColumnGap;
  const int columns = std::max(1, place.columns - before);
  const TimeScale scale(scene.frame.snapshot.time, columns);
  const view::Rect first{place.x, place.y, place.columns, 1};
  const int above = draw_failures(canvas, first, place.x + before, scene, scale) ? 1 : 0;
  const std::size_t living = rows.size() - ended_program_rows(scene).size();
  std::vector<std::vector<TimeCell>> cells;
  std::uint64_t brightest = 0;
  for (const ledger::ProgramView* program : rows) {
    cells.push_back(scale.cells(program->launches.value_or(ledger::LaunchSeries{})));
    for (const TimeCell& cell : cells.back()) brightest = std::max(brightest, cell.launches);
  }
  const std::vector<std::string> titles = titles_of(rows, name);
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = {{"PROGRAM", name, false, 0, 0, "name"},
                     {"NOW/S", kRateColumns, true, 0, 0, "launches now"},
                     {fmt::format("THE LAST {} MINUTES, {} s EACH", ledger::kLaunchIntervals / 60,
                                  scale.seconds()),
                      columns, false, 0, 0, ""}};
  listing.row = [&](int row) -> std::vector<ListCell> {
    const auto index = static_cast<std::size_t>(row);
    const ledger::ProgramView& program = *rows[index];
    const bool ended = index >= living;
    const view::Look look = program.loaded && !ended ? looks::kText : looks::kFaint;
    return {{titles[index], look, {}},
            {ended ? "ended" : recent_text(program), look, {}},
            {"", looks::kText, [&, index](view::Grid& grid, int x, int y, int) {
               draw_timeline(grid, x, y, cells[index], brightest, scene.state.colours);
             }}};
  };
  draw_list(canvas, {place.x, place.y + above, place.columns, place.rows - above}, listing);
}

}  // namespace

void draw_programs(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto rows = program_rows(scene);
  std::size_t registered = 0;
  for (const ledger::ProgramView* program : rows) registered += program->loaded ? 0 : 1;
  std::string note = registered > 0 ? fmt::format("{} never dispatched", registered) : "";
  if (scene.state.timeline) note = timeline_legend();
  const std::size_t ended = ended_program_rows(scene).size();
  std::string heading = fmt::format("Programs {}", rows.size() - ended);
  if (ended > 0) heading += fmt::format(", {} ended", ended);
  const view::Rect inside = draw_panel(canvas, place, heading, note);
  if (rows.empty()) {
    const bool filtered = !scene.state.list().filter.empty();
    draw_centred(canvas, inside,
                 {!scene.frame.programs ? "reading …"
                  : filtered            ? "No program matches the filter."
                                        : "No living process has a program."});
    return;
  }
  const view::Rect body{inside.x + 1, inside.y, inside.columns - 2, inside.rows};
  if (scene.state.timeline) return draw_timelines(canvas, body, scene, rows);
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = columns(scene);
  listing.row = [&](int row) { return cells(scene, *rows[static_cast<std::size_t>(row)]); };
  draw_list(canvas, body, listing);
}

}  // namespace ttmem::top
