// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "top/listing.hpp"
#include "top/views.hpp"
#include "view/units.hpp"

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

constexpr int kRoomForColumns = 96;
constexpr std::size_t kToTheSecond = 8, kToTheMicrosecond = 15;  // letters of the time
constexpr std::size_t kDetailLines = 3;

// Where there is little room: no columns, and of the time so many letters.
std::string compact(std::string_view text, std::size_t time) {
  std::string result(text.substr(0, time));
  text.remove_prefix(std::min(text.find(' '), text.size()));
  for (const char letter : text) {
    if (letter != ' ' || result.back() != ' ') result += letter;
  }
  return result;
}

// The selected event in full at the bottom, if a line has no room for it; returns its lines. Not
// while the list follows what happens: it would be another one every moment.
int draw_detail(Canvas& canvas, const view::Rect& place, const Scene& scene,
                const EventLine& event) {
  if (scene.state.list().selected == 0 && !scene.state.paused) return 0;
  const std::string text = compact(event.text, kToTheMicrosecond);
  const auto lines = wrapped(text, place.columns, kDetailLines);
  if (lines.size() < 2) return 0;
  int y = place.bottom() - static_cast<int>(lines.size());
  for (const std::string_view line : lines) {
    canvas.grid.text(place.x, y++, line, look_of(event.kind).bold());
  }
  return static_cast<int>(lines.size());
}

std::string events_note(const Scene& scene) {
  const std::size_t events = scene.frame.events.size();
  const bool full = events >= kEventsKept;
  return full ? fmt::format("the last {} events", kEventsKept) : view::count_text(events, "event");
}

}  // namespace

void draw_events(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto rows = event_rows(scene);
  const int count = static_cast<int>(rows.size());
  view::Rect inside = draw_panel(canvas, place, "Events", events_note(scene));
  if (rows.empty()) {
    draw_centred(canvas, inside,
                 {scene.frame.events.empty() ? "Nothing has happened yet."
                                             : "No event matches the filter."});
    return;
  }
  inside = {inside.x + 1, inside.y, inside.columns - 2, inside.rows};
  // The selection counts from the newest, so that the list follows what happens.
  const int selected = count - 1 - std::clamp(scene.state.list().selected, 0, count - 1);
  inside.rows -= draw_detail(canvas, inside, scene, *rows[static_cast<std::size_t>(selected)]);
  const int first = first_shown(selected, count, inside.rows);
  const int shown = std::min(inside.rows, count - first);
  for (int line = 0; line < shown; ++line) {
    const EventLine& event = *rows[static_cast<std::size_t>(first + line)];
    const view::Rect whole{inside.x, inside.y + line, inside.columns, 1};
    const bool roomy = whole.columns >= kRoomForColumns;
    canvas.grid.text(whole.x, whole.y, roomy ? event.text : compact(event.text, kToTheSecond),
                     look_of(event.kind), whole.columns);
    if (first + line == selected) canvas.grid.put_behind(whole, view::Ink::kSelection);
    canvas.zones.push_back({whole, ZoneKind::kRow, count - 1 - (first + line)});
  }
  draw_scroll_mark(canvas, inside, first, shown, count);
}

}  // namespace ttmem::top
