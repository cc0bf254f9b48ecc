// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/canvas.hpp"

#include <algorithm>

#include "view/printable.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

// Parts that are three spaces apart leave whole, the last first; a single part is cut.
std::string fitted_note(std::string note, int room) {
  while (view::drawn_columns(note) > room) {
    const std::size_t last = note.rfind("   ");
    if (last == std::string::npos) return view::cut(note, static_cast<std::size_t>(room));
    note.resize(last);
  }
  return note;
}

}  // namespace

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

std::string Scene::signed_bytes(const std::optional<std::int64_t>& bytes) const {
  if (!bytes) return "?";
  return state.exact ? view::signed_exact_text(*bytes) : view::signed_bytes_text(*bytes);
}

view::Look type_look(ledger::KernelType type) {
  switch (type) {
    case ledger::KernelType::kApplication:
      return {view::Ink::kApplication};
    case ledger::KernelType::kFabric:
      return {view::Ink::kFabric};
    case ledger::KernelType::kDispatch:
      return {view::Ink::kDispatch};
  }
  return looks::kText;
}

view::Rect draw_panel(Canvas& canvas, const view::Rect& place, const std::string& title,
                      const std::string& note) {
  canvas.grid.frame(place, title, looks::kFrame, looks::kTitle);
  const int room = place.columns - view::drawn_columns(title) - 10;
  if (!note.empty() && room >= 8) {
    canvas.grid.text_before(place.right() - 2, place.y, " " + fitted_note(note, room) + " ",
                            looks::kSoft);
  }
  return place.inside();
}

void draw_centred(Canvas& canvas, const view::Rect& place, const std::vector<std::string>& lines) {
  int y = place.y + std::max(0, (place.rows - static_cast<int>(lines.size())) / 2);
  for (const std::string& line : lines) {
    if (y >= place.bottom()) break;
    const int width = view::drawn_columns(line);
    const int x = place.x + std::max(0, (place.columns - width) / 2);
    canvas.grid.text(x, y++, line, looks::kSoft, place.right() - x);
  }
}

}  // namespace ttmem::top
