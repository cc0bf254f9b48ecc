// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/canvas.hpp"

#include <algorithm>

#include "view/printable.hpp"
#include "view/units.hpp"

namespace ttmem::top {

const ledger::DeviceView* Scene::device() const {
  for (const ledger::DeviceView& device : frame.snapshot.devices) {
    if (device.unique_id == state.device.value_or(device.unique_id)) return &device;
  }
  return nullptr;
}

const ledger::ProcessView* Scene::process() const {
  for (const ledger::ProcessView& process : frame.snapshot.processes) {
    if (!state.process || process_id(process) == *state.process) return &process;
  }
  return nullptr;
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
