// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/device_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "top/listing.hpp"
#include "top/rows.hpp"
#include "view/bars.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using view::Ink;

std::vector<ListCell> kernel_cells(const Scene& scene, const ledger::HoldingView& kernel) {
  return {{kernel.name.empty() ? kernel.source : kernel.name, looks::kText, {}},
          {std::string(view::title(kernel.type)), type_look(kernel.type), {}},
          {std::string(ledger::processor_name(kernel.processor)), looks::kSoft, {}},
          {scene.bytes(kernel.packed), looks::kText, {}},
          {std::to_string(kernel.cores), looks::kText, {}},
          {scene.bytes(kernel.footprint), looks::kText, {}},
          {view::exact_text(kernel.dispatches), looks::kText, {}},
          {view::exact_text(kernel.cache_hits), looks::kText, {}},
          {view::exact_text(kernel.reloads), looks::kText, {}},
          {view::age_text(kernel.last_dispatch, scene.frame.snapshot.time), looks::kSoft, {}},
          {fmt::format("{} {}", kernel.process->label(), kernel.process->name), looks::kFaint, {}}};
}

std::string kernels_note(const Scene& scene, const ledger::DeviceView& device) {
  const ledger::KernelFigures& kernels = device.figures.kernels;
  return fmt::format("footprint {}   dispatches {}   hits {}   reloads {}   evictions {}{}",
                     scene.bytes(kernels.total().footprint), view::exact_text(kernels.dispatches),
                     view::exact_text(kernels.cache_hits), view::exact_text(kernels.reloads),
                     view::exact_text(kernels.evictions),
                     kernels.stand_in ? "   sizes are stand-ins" : "");
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
  Listing listing = listing_of(list, rows.size());
  if (!scene.state.kernels) listing.selected = -1;
  listing.columns = {{"NAME", 12, false, 0, 1, 7},      {"TYPE", 11, false, 1, 0, 8},
                     {"RISC", 7, false, 8, 0, -1},      {"SIZE", bytes, true, 0, 0, 1},
                     {"CORES", 6, true, 0, 0, 2},       {"FOOTPRINT", bytes, true, 2, 0, 0},
                     {"DISPATCHES", 11, true, 3, 0, 3}, {"HITS", 8, true, 4, 0, 4},
                     {"RELOADS", 8, true, 5, 0, 5},     {"LAST", 9, true, 6, 0, 6},
                     {"PROCESS", 18, false, 7, 0, -1}};
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

}  // namespace

void draw_device_tables(Canvas& canvas, const view::Rect& place, const Scene& scene,
                        const ledger::DeviceView& device) {
  constexpr int kBankRows = 3;
  draw_kernels(canvas, {place.x, place.y, place.columns, place.rows - kBankRows}, scene, device);
  draw_dram_bank(canvas, {place.x, place.bottom() - kBankRows, place.columns, kBankRows}, scene,
                 device);
}

}  // namespace ttmem::top
