// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/chip.hpp"
#include "top/core_panel.hpp"
#include "top/device_card.hpp"
#include "top/device_tables.hpp"
#include "top/listing.hpp"
#include "top/views.hpp"
#include "view/bars.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using ledger::Role;
using view::Ink;

std::string_view role_mark(Role role) {
  switch (role) {
    case Role::kDispatch:
      return "D";
    case Role::kActiveEth:
      return "E";
    case Role::kIdleEth:
      return "e";
    case Role::kDram:
      return "M";
    case Role::kHarvested:
      return "×";
    case Role::kWorker:
      return "";
  }
  return "";
}

struct CoreDrawing {
  const Scene& scene;
  const PlacedCore* cursor;
  std::uint64_t largest_kernel;
  int width;
};

void draw_one_core(Canvas& canvas, int x, int y, const CoreDrawing& drawing,
                   const PlacedCore& placed) {
  const ledger::CoreView& core = *placed.core;
  const int width = drawing.width - (drawing.width > 2 ? 1 : 0);
  const CoreReading reading =
      read_core(core, drawing.scene.state.core_figure, drawing.largest_kernel);
  const bool worker = core.role == Role::kWorker;
  std::string text = worker ? reading.text : std::string(role_mark(core.role));
  if (view::drawn_columns(text) > width) text = "##";
  view::Look look = looks::kFaint.on(worker ? Ink::kTrack : Ink::kDefault);
  if (worker) {
    look = {Ink::kOnColour, reading.clash ? Ink::kBad : view::heat(reading.part)};
    if (!drawing.scene.state.colours) look = {};
  } else if (core.role == Role::kActiveEth) {
    look = {Ink::kFabric};
  } else if (core.role == Role::kDispatch) {
    look = {Ink::kDispatch};
  }
  if (drawing.cursor == &placed) look = {Ink::kOnColour, Ink::kText, true, false, false};
  look.reversed = drawing.cursor == &placed && !drawing.scene.state.colours;
  canvas.grid.fill({x, y, width, 1}, U' ', look);
  canvas.grid.text(x + (width - view::drawn_columns(text) + 1) / 2, y, text, look, width);
  canvas.zones.push_back({{x, y, width, 1}, ZoneKind::kCore, placed.row * 256 + placed.column});
}

std::string roles_note(const Chip& chip) {
  const auto count = [&chip](Role role) {
    return std::count_if(chip.cores.begin(), chip.cores.end(),
                         [role](const PlacedCore& core) { return core.core->role == role; });
  };
  std::string note;
  for (const Role role : {Role::kActiveEth, Role::kDispatch, Role::kHarvested}) {
    if (const auto number = count(role); number > 0) {
      note += fmt::format("{}{} {}", note.empty() ? "" : "  ", role_mark(role), number);
    }
  }
  return note;
}

// Returns the columns it took.
int draw_chip(Canvas& canvas, const view::Rect& place, const Scene& scene, const Chip& chip,
              const PlacedCore* cursor) {
  int width = 2;
  for (const int wanted : {5, 4, 3}) {
    if (chip.columns * wanted + 6 <= place.columns * 11 / 20) {
      width = wanted;
      break;
    }
  }
  const int columns = std::min(place.columns, std::max(chip.columns * width + 6, 28));
  const view::Rect inside =
      draw_panel(canvas, {place.x, place.y, columns, place.rows},
                 fmt::format("Cores  {}", title(scene.state.core_figure)), roles_note(chip));
  CoreDrawing drawing{scene, cursor, 1, width};
  for (const PlacedCore& core : chip.cores) {
    drawing.largest_kernel = std::max(drawing.largest_kernel, core.core->kernel_footprint);
  }
  const int first = first_shown(cursor != nullptr ? cursor->row : 0, chip.rows, inside.rows);
  const int spare = std::max(0, (inside.rows - chip.rows) / 2);
  for (const PlacedCore& core : chip.cores) {
    const int y = inside.y + spare + core.row - first;
    if (y < inside.y || y >= inside.bottom()) continue;
    draw_one_core(canvas, inside.x + 2 + core.column * width, y, drawing, core);
  }
  return columns;
}

void draw_cores(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const Chip chip = place_cores(scene.frame.device->cores);
  const PlacedCore* cursor = chip.nearest(scene.state.core_column, scene.state.core_row);
  if (cursor == nullptr) {
    draw_centred(canvas, draw_panel(canvas, place, "Cores"),
                 {"No living process has told which cores this device has."});
    return;
  }
  const int columns = draw_chip(canvas, place, scene, chip, cursor);
  const view::Rect rest{place.x + columns, place.y, place.columns - columns, place.rows};
  if (rest.columns >= 20) draw_core(canvas, rest, scene, *cursor->core);
}

}  // namespace

void draw_device(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const ledger::DeviceView* device = scene.device();
  if (device == nullptr) {
    draw_centred(canvas, draw_panel(canvas, place, "Device"),
                 {scene.state.device ? "This device is gone: no process tells of it any more."
                                     : "No device is known yet.",
                  scene.state.device ? "n shows the next one, Esc goes back." : ""});
    return;
  }
  const int card = place.rows >= 22 ? 4 : 2;
  const view::Rect summary{place.x, place.y, place.columns, card + (card == 4 ? 2 : 0)};
  const view::Rect inside = card == 4
                                ? draw_panel(canvas, summary, fmt::format("Device {}", device->id),
                                             view::unique_id_text(device->unique_id))
                                : summary;
  draw_device_card(canvas, {inside.x + 1, inside.y, inside.columns - 2, card}, scene, *device);
  view::Rect rest{place.x, summary.bottom(), place.columns, place.bottom() - summary.bottom()};
  if (!scene.frame.device || scene.frame.device->unique_id != device->unique_id) {
    draw_centred(canvas, draw_panel(canvas, rest, "Cores"), {"reading …"});
    return;
  }
  if (scene.state.kernels) return draw_device_tables(canvas, rest, scene, *device);
  const int kernels = static_cast<int>(scene.frame.device->kernels.size());
  const int tables = rest.rows >= 24 ? std::min(rest.rows - 15, std::max(kernels, 1) + 6) : 0;
  draw_cores(canvas, {rest.x, rest.y, rest.columns, rest.rows - tables}, scene);
  if (tables == 0) return;
  draw_device_tables(canvas, {rest.x, rest.bottom() - tables, rest.columns, tables}, scene,
                     *device);
}

}  // namespace ttmem::top
