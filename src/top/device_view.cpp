// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/chip.hpp"
#include "top/device_card.hpp"
#include "top/list_rows.hpp"
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
                 {"No living process reports the cores of this device."});
    return;
  }
  const int columns = draw_chip(canvas, place, scene, chip, cursor);
  const view::Rect rest{place.x + columns, place.y, place.columns - columns, place.rows};
  if (rest.columns >= 20) draw_core(canvas, rest, scene, *cursor->core);
}

// ---- the kernels, and below them the DRAM banks
// --------------------------------------------------

std::vector<ListCell> kernel_cells(const Scene& scene, const ledger::HoldingView& kernel) {
  return {
      {kernel.name.empty() ? kernel.source : kernel.name, looks::kText, {}},
      {std::string(view::title(kernel.type)), type_look(kernel.type), {}},
      {std::string(ledger::processor_name(kernel.processor)), looks::kSoft, {}},
      {scene.bytes(view::known_binary(kernel)), looks::kText, {}},
      {view::exact_text(view::known_cores(kernel)), looks::kText, {}},
      {kernel.code_users > 1 ? std::to_string(kernel.code_users) : "-", looks::kSoft, {}},
      {scene.bytes(kernel.footprint), looks::kText, {}},
      {view::exact_text(kernel.dispatches), looks::kText, {}},
      {view::exact_text(kernel.cache_hits), looks::kText, {}},
      {view::exact_text(kernel.reloads), looks::kText, {}},
      {view::launch_age_text(kernel.dispatches, kernel.last_dispatch, scene.frame.snapshot.time),
       looks::kSoft,
       {}},
      {fmt::format("{} {}", kernel.process->label(), kernel.process->name), looks::kFaint, {}}};
}

std::string kernels_note(const Scene& scene, const ledger::DeviceView& device) {
  const ledger::KernelFigures& kernels = device.figures.kernels;
  std::string note = fmt::format(
      "footprint {}   dispatches {}   hits {}   reloads {}   evictions {}{}",
      scene.bytes(kernels.total().footprint), view::exact_text(kernels.dispatches),
      view::exact_text(kernels.cache_hits), view::exact_text(kernels.reloads),
      view::exact_text(kernels.evictions), kernels.stand_in ? "   sizes are stand-ins" : "");
  for (std::size_t i = 1; i < ledger::kCoreTypes; ++i) {
    if (kernels.by_core_type[i].value_or(0) == 0) continue;
    note += fmt::format("   on {} {}", name(static_cast<ledger::CoreType>(i)),
                        scene.bytes(kernels.by_core_type[i]));
  }
  const std::uint64_t code = kernels.code_bytes.value_or(0);
  const std::uint64_t unique = kernels.unique_bytes.value_or(0);
  if (code > unique) {
    note += fmt::format("   same code {} of {}", scene.bytes(code - unique), scene.bytes(code));
  }
  return note;
}

void draw_kernels(Canvas& canvas, const view::Rect& place, const Scene& scene,
                  const ledger::DeviceView& device) {
  const auto rows = kernel_rows(scene);
  const bool all = scene.frame.device->kernels.size() < kKernelsKept;
  const view::Rect inside = draw_panel(
      canvas, place, fmt::format("Kernels {}{}", rows.size(), all ? "" : " of the largest"),
      kernels_note(scene, device));
  const ListState& list = scene.state.list();
  if (rows.empty() && !list.filter.empty()) {
    draw_centred(canvas, inside, {"No kernel matches the filter."});
    return;
  }
  const int bytes = scene.state.exact ? 12 : 10;
  Listing listing = listing_of(scene.state, rows.size());
  if (!scene.state.kernels) listing.selected = -1;
  listing.columns = {{"NAME", 12, false, 0, 1, "name"},
                     {"TYPE", 11, false, 1, 0, "type"},
                     {"RISC", 7, false, 8, 0, ""},
                     {"SIZE", bytes, true, 0, 0, "size"},
                     {"CORES", 6, true, 0, 0, "cores"},
                     {"SAME", 5, true, 9, 0, ""},
                     {"FOOTPRINT", bytes, true, 2, 0, "footprint"},
                     {"DISPATCHES", 11, true, 3, 0, "dispatches"},
                     {"HITS", 8, true, 4, 0, "hits"},
                     {"RELOADS", 8, true, 5, 0, "reloads"},
                     {"LAST", 9, true, 6, 0, "last dispatch"},
                     {"PROCESS", 18, false, 7, 0, ""}};
  listing.row = [&](int row) { return kernel_cells(scene, *rows[static_cast<std::size_t>(row)]); };
  draw_list(canvas, {inside.x + 1, inside.y, inside.columns - 2, inside.rows}, listing);
}

// One bank stands for all: buffers have the same address in each.
void draw_dram_bank(Canvas& canvas, const view::Rect& place, const Scene& scene,
                    const ledger::DeviceView& device) {
  const ledger::SpaceFigures& dram = device.figures.space(ledger::Space::kDram);
  const std::uint64_t banks = device.dram_banks.value_or(0);
  if (banks == 0 || !dram.capacity) return;
  const std::uint64_t bank = *dram.capacity / banks;
  std::vector<view::BarPart> parts;
  std::uint64_t at = scene.frame.device->dram.empty() ? 0 : scene.frame.device->dram.front().begin;
  const std::uint64_t base = at;
  for (const Interval& taken : scene.frame.device->dram) {
    if (taken.begin - base > bank) break;
    parts.push_back({Ink::kTrack, taken.begin - at, U'·'});
    parts.push_back({Ink::kDram, taken.end - taken.begin, U'█'});
    at = taken.end;
  }
  const std::string_view alike = place.columns >= 76 ? ", all alike" : "";
  const view::Rect inside = draw_panel(
      canvas, place, fmt::format("DRAM  {} banks of {}{}", banks, scene.bytes(bank), alike),
      fmt::format("largest free {}", scene.bytes(dram.largest_free)));
  view::draw_strip(canvas.grid, inside.x + 1, inside.y, inside.columns - 2, parts, bank,
                   scene.state.colours);
}

// The frame must have the device's details.
void draw_device_tables(Canvas& canvas, const view::Rect& place, const Scene& scene,
                        const ledger::DeviceView& device) {
  constexpr int kBankRows = 3, kLeastKernels = 6;
  int rings = ring_lines(scene);
  if (place.rows - kBankRows - rings < kLeastKernels) rings = 0;
  const int kernels = place.rows - kBankRows - rings;
  draw_kernels(canvas, {place.x, place.y, place.columns, kernels}, scene, device);
  if (rings > 0) draw_rings(canvas, {place.x, place.y + kernels, place.columns, rings}, scene);
  draw_dram_bank(canvas, {place.x, place.bottom() - kBankRows, place.columns, kBankRows}, scene,
                 device);
}

}  // namespace

void draw_device(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const ledger::DeviceView* device = scene.device();
  if (device == nullptr) {
    draw_centred(canvas, draw_panel(canvas, place, "Device"),
                 {scene.state.device ? "This device is gone: no process reports it any more."
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
  const int wanted = std::max(kernels, 1) + 6 + ring_lines(scene);
  const int tables = rest.rows >= 24 ? std::min(rest.rows - 15, wanted) : 0;
  draw_cores(canvas, {rest.x, rest.y, rest.columns, rest.rows - tables}, scene);
  if (tables == 0) return;
  draw_device_tables(canvas, {rest.x, rest.bottom() - tables, rest.columns, tables}, scene,
                     *device);
}

}  // namespace ttmem::top
