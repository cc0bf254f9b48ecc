// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "top/listing.hpp"
#include "top/views.hpp"
#include "view/labels.hpp"
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
          {"DISP/S", 7, true, 4, 0, "dispatches/s"},
          {"FIRST", 9, true, 7, 0, "first dispatch"},
          {"LAST", 9, true, 1, 0, "last dispatch"},
          {"LINE", 16, false, 12, 1, ""}};
}

std::vector<ListCell> cells(const Scene& scene, const ledger::ProgramView& program) {
  const ledger::TimeNs now = scene.frame.snapshot.time;
  const view::Look look = program.loaded ? looks::kText : looks::kFaint;
  const std::string name =
      program.name.empty() ? "program " + view::hex_text(program.id) : program.name;
  return {{name, program.loaded ? looks::kText.bold() : looks::kFaint, {}},
          {std::string(view::title(program.type)), type_look(program.type), {}},
          {fmt::format("{} {}", program.process->label(), program.process->name), looks::kSoft, {}},
          {view::id_list(program.devices), look, {}},
          {std::to_string(program.cores), look, {}},
          {scene.bytes(program.l1_largest_core), look, {}},
          {scene.bytes(program.footprint), look, {}},
          {scene.bytes(program.config_bytes[0]), looks::kSoft, {}},
          {program.loaded ? view::exact_text(program.dispatches) : "registered", look, {}},
          {view::exact_text(program.cache_hits), look, {}},
          {view::exact_text(program.reloads), look, {}},
          {program.dispatches_per_second > 0 ? fmt::format("{:.1f}", program.dispatches_per_second)
                                             : "-",
           look,
           {}},
          {view::age_text(program.first_dispatch, now), looks::kSoft, {}},
          {view::age_text(program.last_dispatch, now), looks::kSoft, {}},
          {program.line, looks::kFaint, {}}};
}

}  // namespace

void draw_programs(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto rows = program_rows(scene);
  std::size_t registered = 0;
  for (const ledger::ProgramView* program : rows) registered += program->loaded ? 0 : 1;
  const std::string note = registered > 0 ? fmt::format("{} never dispatched", registered) : "";
  const view::Rect inside =
      draw_panel(canvas, place, fmt::format("Programs {}", rows.size()), note);
  if (rows.empty()) {
    const bool filtered = !scene.state.list().filter.empty();
    draw_centred(canvas, inside,
                 {!scene.frame.programs ? "reading …"
                  : filtered            ? "No program matches the filter."
                                        : "No living process has a program."});
    return;
  }
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = columns(scene);
  listing.row = [&](int row) { return cells(scene, *rows[static_cast<std::size_t>(row)]); };
  draw_list(canvas, {inside.x + 1, inside.y, inside.columns - 2, inside.rows}, listing);
}

}  // namespace ttmem::top
