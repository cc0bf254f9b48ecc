// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/canvas.hpp"

#include <algorithm>

#include "view/printable.hpp"
#include "view/units.hpp"

namespace ttmem::top {

const ledger::DeviceView* Scene::device() const {
  const auto& devices = frame.snapshot.devices;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& device) {
    return state.device && device.unique_id == *state.device;
  });
  if (found != devices.end()) return &*found;
  return devices.empty() ? nullptr : &devices.front();
}

const ledger::ProcessView* Scene::process() const {
  const auto& processes = frame.snapshot.processes;
  const auto found = std::find_if(processes.begin(), processes.end(), [&](const auto& process) {
    return state.process && process_id(process) == *state.process;
  });
  if (found != processes.end()) return &*found;
  return processes.empty() ? nullptr : &processes.front();
}

std::string Scene::bytes(const ledger::Figure& figure) const {
  return state.exact ? view::exact_text(figure) : view::bytes_text(figure);
}

view::Rect draw_panel(Canvas& canvas, const view::Rect& place, const std::string& title,
                      const std::string& note) {
  canvas.grid.frame(place, title, looks::kFrame, looks::kTitle);
  const int used = static_cast<int>(view::display_width(title)) + 8;
  const int room = place.columns - used - 4;
  if (!note.empty() && room >= 8) {
    const std::string shown = " " + view::cut(note, static_cast<std::size_t>(room)) + " ";
    canvas.grid.text_before(place.right() - 2, place.y, shown, looks::kSoft);
  }
  return place.inside();
}

void draw_centred(Canvas& canvas, const view::Rect& place, const std::vector<std::string>& lines) {
  int y = place.y + std::max(0, (place.rows - static_cast<int>(lines.size())) / 2);
  for (const std::string& line : lines) {
    if (y >= place.bottom()) break;
    const int width = static_cast<int>(view::display_width(line));
    const int x = place.x + std::max(0, (place.columns - width) / 2);
    canvas.grid.text(x, y++, line, looks::kSoft, place.right() - x);
  }
}

}  // namespace ttmem::top
