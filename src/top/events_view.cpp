// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/listing.hpp"
#include "top/rows.hpp"
#include "top/views.hpp"

namespace ttmem::top {
namespace {

using ledger::EventKind;

view::Look look_of(EventKind kind) {
  switch (kind) {
    case EventKind::kFailed:
    case EventKind::kAnomaly:
      return looks::kBad;
    case EventKind::kGap:
    case EventKind::kRingFull:
    case EventKind::kReloaded:
      return looks::kWarn;
    case EventKind::kProcessStarted:
    case EventKind::kProcessEnded:
    case EventKind::kDeviceOpened:
    case EventKind::kDeviceClosed:
      return looks::kTitle;
    case EventKind::kBufferFreed:
    case EventKind::kProgramReleased:
    case EventKind::kWorkloadReleased:
    case EventKind::kTraceReleased:
      return looks::kSoft;
    default:
      return looks::kText;
  }
}

}  // namespace

void draw_events(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto rows = event_rows(scene);
  const int count = static_cast<int>(rows.size());
  const std::string note = scene.frame.events.size() >= kEventsKept
                               ? fmt::format("the last {} events", kEventsKept)
                               : fmt::format("{} events", scene.frame.events.size());
  const view::Rect inside = draw_panel(canvas, place, "Events", note);
  if (rows.empty()) {
    draw_centred(canvas, inside,
                 {scene.frame.events.empty() ? "Nothing has happened yet."
                                             : "No event matches the filter."});
    return;
  }
  // The selection counts from the newest, so that the list follows what happens.
  const int selected = count - 1 - std::clamp(scene.state.list().selected, 0, count - 1);
  const int first = first_shown(selected, count, inside.rows);
  const int shown = std::min(inside.rows, count - first);
  for (int line = 0; line < shown; ++line) {
    const EventLine& event = *rows[static_cast<std::size_t>(first + line)];
    const view::Rect whole{inside.x + 1, inside.y + line, inside.columns - 2, 1};
    canvas.grid.text(whole.x, whole.y, event.text, look_of(event.kind), whole.columns);
    if (first + line == selected) canvas.grid.put_behind(whole, view::Ink::kSelection);
    canvas.zones.push_back({whole, ZoneKind::kRow, count - 1 - (first + line)});
  }
}

}  // namespace ttmem::top
