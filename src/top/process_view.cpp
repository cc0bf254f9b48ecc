// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "top/views.hpp"
#include "view/labels.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

std::string trust_text(const ledger::ProcessView& process) {
  if (process.segment.empty()) return "not tracked: started without `ttmem run`";
  const ledger::Tracking& tracking = process.tracking;
  std::string text = tracking.exact == true ? "exact: the runtime's own statistics agree"
                     : tracking.exact == false
                         ? "differs from the runtime's statistics by " +
                               view::signed_bytes_text(tracking.difference_bytes)
                         : "not compared with the runtime";
  if (!tracking.since_open) text += ", attached late";
  if (tracking.partial) text += ", an earlier part is not known";
  if (tracking.disconnected) text += ", its socket closed";
  if (!tracking.hooks_missing.empty()) {
    text += ", " + view::count_text(tracking.hooks_missing.size(), "hook") + " missing";
  }
  if (tracking.unrecorded > 0) text += fmt::format(", {} calls unrecorded", tracking.unrecorded);
  return text;
}

view::Look trust_look(const ledger::Tracking& tracking) {
  if (tracking.exact == false || tracking.unrecorded > 0) return looks::kWarn;
  return tracking.exact == true ? looks::kGood : looks::kSoft;
}

std::string life_text(const Scene& scene, const ledger::ProcessView& process) {
  const ledger::TimeNs now = scene.frame.snapshot.time;
  if (process.alive && process.started == 0) return "running";
  if (process.alive) return "running for " + view::age_text(process.started, now);
  return fmt::format("{} {} ago, after {}", ledger::name(process.ended),
                     view::age_text(process.ended_at, now),
                     view::age_text(process.started, process.ended_at));
}

void draw_identity(Canvas& canvas, const view::Rect& place, const Scene& scene,
                   const ledger::ProcessView& process) {
  const view::Rect inside =
      draw_panel(canvas, place, fmt::format("Process {}  {}", process.label(), process.name),
                 life_text(scene, process));
  int y = inside.y;
  const auto line = [&](std::string_view label, const std::string& text, view::Look look) {
    if (y >= inside.bottom() || text.empty()) return;
    canvas.grid.text(inside.x + 1, y, label, looks::kSoft);
    canvas.grid.text(inside.x + 11, y++, text, look, inside.columns - 12);
  };
  line("tracking", trust_text(process), trust_look(process.tracking));
  line("▲ grows", leak_text(scene, process), looks::kWarn);
  line("command", process.command, looks::kText);
  line("user",
       fmt::format("{}   source {}   {}", view::user_text(process),
                   view::sources_text(process.sources), view::count_text(process.events, "event")),
       looks::kText);
  line("runtime", process.runtime_version, looks::kText);
  line("container", process.container, looks::kText);
}

}  // namespace

void draw_process(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const ledger::ProcessView* process = scene.process();
  if (process == nullptr) {
    draw_centred(canvas, draw_panel(canvas, place, "Process"),
                 {scene.state.process ? "This process is gone, and what it left was removed."
                                      : "No process is known yet.",
                  scene.state.process ? "n shows the next one, Esc goes back." : ""});
    return;
  }
  const int head = place.rows >= 24 ? 7 : place.rows >= 18 ? 5 : 4;
  const int chart = place.columns >= 110 && head >= 7 && process->alive ? place.columns * 2 / 5 : 0;
  draw_identity(canvas, {place.x, place.y, place.columns - chart, head}, scene, *process);
  if (chart > 0) {
    draw_charts(canvas, {place.right() - chart, place.y, chart, head}, "Last 2 minutes",
                scene.history.process(process_id(*process)));
  }
  const int devices =
      std::min(process_device_rows(scene, *process) + 4, std::max(4, (place.rows - head) * 2 / 5));
  draw_process_devices(canvas, {place.x, place.y + head, place.columns, devices}, scene, *process);
  const view::Rect rest{place.x, place.y + head + devices, place.columns,
                        place.rows - head - devices};
  if (scene.state.failures) {
    draw_failures(canvas, rest, scene, *process);
  } else if (scene.state.tree) {
    draw_tree(canvas, rest, scene, *process);
  } else {
    draw_groups(canvas, rest, scene, *process);
  }
}

}  // namespace ttmem::top
