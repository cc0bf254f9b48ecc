// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/fleet_rows.hpp"
#include "top/listing.hpp"
#include "top/views.hpp"
#include "view/bars.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using fleet::DeviceRow;
using fleet::HostRow;

constexpr double kNearlyFull = 0.9;

std::string tenth(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "";
}

// How full it is: a bar, and nothing where it is not known.
ListCell bar_cell(const Scene& scene, const ledger::Figure& part, const ledger::Figure& whole,
                  view::Ink ink) {
  if (!part || !whole || *whole == 0) return {};
  const view::BarPart held{ink, std::min(*part, *whole), U'█'};
  const bool colours = scene.state.colours;
  return {"", looks::kText, [=](view::Grid& grid, int x, int y, int columns) {
            view::draw_bar(grid, x, y, columns, {&held, 1}, *whole, colours);
          }};
}

ListCell share_cell(const ledger::Figure& part, const ledger::Figure& whole) {
  if (!part || !whole || *whole == 0) return {};
  const bool full = static_cast<double>(*part) / static_cast<double>(*whole) >= kNearlyFull;
  return {view::percent_text(*part, *whole), full ? looks::kWarn : looks::kText, {}};
}

std::vector<ListCell> host_cells(const Scene& scene, const HostRow& host) {
  const bool fresh = host.state == fleet::HostState::kFresh;
  const std::string state =
      fresh ? "" : fmt::format("{}: {}", ledger::name(host.state), host.problem);
  return {{host.name, fresh ? looks::kText.bold() : looks::kWarn, {}},
          {known_count(host.devices), looks::kSoft, {}},
          {known_count(host.in_use), looks::kSoft, {}},
          {scene.bytes(host.dram), looks::kText, {}},
          {scene.bytes(host.dram_capacity), looks::kSoft, {}},
          share_cell(host.dram, host.dram_capacity),
          bar_cell(scene, host.dram, host.dram_capacity, view::Ink::kDram),
          {scene.bytes(host.l1), looks::kText, {}},
          headroom_cell(scene, host.headroom),
          {known_count(host.processes), looks::kSoft, {}},
          {state, looks::kWarn, {}}};
}

std::vector<ListCell> fleet_total_cells(const Scene& scene) {
  const fleet::FleetTotals totals = fleet::totals_of(scene.frame.fleet->fleet);
  const view::Look look = looks::kText.bold();
  return {{fmt::format("Σ {} fresh", scene.frame.fleet->fleet.fresh()), looks::kTitle, {}},
          {std::to_string(totals.devices), look, {}},
          {std::to_string(totals.in_use), look, {}},
          {scene.bytes(totals.dram), look, {}},
          {scene.bytes(totals.dram_capacity), looks::kSoft, {}},
          share_cell(totals.dram, totals.dram_capacity),
          bar_cell(scene, totals.dram, totals.dram_capacity, view::Ink::kDram),
          {scene.bytes(totals.l1), look, {}},
          headroom_cell(scene, totals.headroom),
          {},
          {}};
}

// What needs attention.
view::JobNotes news_of(const FleetDetails& details) {
  view::JobNotes notes = gaps_of(details);
  for (const std::string& alert : details.fleet.alerts) {
    notes.push_back({view::Tone::kBad, "Alert: " + alert});
  }
  for (const std::string& problem : details.fleet.problems) {
    notes.push_back({view::Tone::kWarn, problem});
  }
  return notes;
}

std::vector<ListCell> device_cells(const Scene& scene, const DeviceRow& device) {
  return {{device.id, looks::kText.bold(), {}},
          {device.board, looks::kSoft, {}},
          {scene.bytes(device.dram), looks::kText, {}},
          {scene.bytes(device.dram_capacity), looks::kSoft, {}},
          share_cell(device.dram, device.dram_capacity),
          bar_cell(scene, device.dram, device.dram_capacity, view::Ink::kDram),
          {scene.bytes(device.l1), looks::kText, {}},
          bar_cell(scene, device.l1, device.l1_capacity, view::Ink::kBuffers),
          headroom_cell(scene, device.headroom),
          {known_count(device.processes), looks::kSoft, {}},
          {tenth(device.temperature), looks::kText, {}},
          {tenth(device.power), looks::kText, {}}};
}

}  // namespace

void draw_hosts(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  if (!scene.frame.fleet) {
    return draw_centred(canvas, draw_panel(canvas, place, "Hosts"), {"reading …"});
  }
  const auto rows = host_rows(scene);
  const view::Rect inside =
      draw_panel(canvas, place, fmt::format("Hosts {}", scene.frame.fleet->fleet.hosts.size()),
                 view::count_text(scene.frame.fleet->fleet.jobs.size(), "job"));
  const view::Rect below = draw_news(canvas, inside, news_of(*scene.frame.fleet));
  if (rows.empty()) {
    const bool filtered = !scene.state.list().filter.empty();
    return draw_centred(canvas, below,
                        {filtered ? "No host matches the filter."
                                  : "Prometheus has no series of `ttmem serve` yet."});
  }
  const int bytes = scene.state.exact ? 17 : 10;
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = {{"HOST", 16, false, 0, 2, "host"},
                     {"DEVICES", 7, true, 5, 0, ""},
                     {"IN USE", 6, true, 5, 0, ""},
                     {"DRAM", bytes, true, 0, 0, "DRAM"},
                     {"of", bytes, true, 4, 0, ""},
                     {"FULL", 6, true, 0, 0, "full"},
                     {"", 10, false, 7, 3, ""},
                     {"L1", bytes, true, 2, 0, "L1"},
                     {"HEADROOM", bytes, true, 1, 0, "headroom"},
                     {"PROCESSES", 9, true, 6, 0, ""},
                     {"STATE", 30, false, 3, 3, "state"}};
  listing.row = [&](int row) { return host_cells(scene, *rows[static_cast<std::size_t>(row)]); };
  listing.footer = fleet_total_cells(scene);
  draw_list(canvas, below, listing);
}

void draw_host(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto rows = host_device_rows(scene);
  const std::string host = scene.frame.fleet ? scene.frame.fleet->host : "";
  const std::string problem = scene.frame.fleet ? scene.frame.fleet->problem : "";
  const view::Rect inside =
      draw_panel(canvas, place, fmt::format("{} {}", host.empty() ? "Host" : host, rows.size()),
                 "ttmem status there says more");
  if (rows.empty()) {
    const std::string known =
        problem.empty() ? "Prometheus knows no device of this host now." : problem;
    return draw_centred(canvas, inside, {known});
  }
  view::JobNotes news;
  if (!problem.empty()) news.push_back({view::Tone::kBad, problem});
  const view::Rect below = draw_news(canvas, inside, news);
  const int bytes = scene.state.exact ? 15 : 10;
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = {{"DEVICE", 6, true, 0, 0, ""},       {"BOARD", 8, false, 6, 0, ""},
                     {"DRAM", bytes, true, 0, 0, ""},     {"of", bytes, true, 4, 0, ""},
                     {"FULL", 6, true, 0, 0, ""},         {"", 10, false, 5, 2, ""},
                     {"L1", bytes, true, 0, 0, ""},       {"", 10, false, 7, 2, ""},
                     {"HEADROOM", bytes, true, 1, 0, ""}, {"PROCESSES", 9, true, 2, 0, ""},
                     {"°C", 5, true, 3, 0, ""},           {"W", 5, true, 3, 0, ""}};
  listing.row = [&](int row) { return device_cells(scene, *rows[static_cast<std::size_t>(row)]); };
  draw_list(canvas, below, listing);
}

}  // namespace ttmem::top
