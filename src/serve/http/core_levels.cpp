// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <string_view>
#include <utility>

#include "serve/http/deltas.hpp"
#include "view/json_values.hpp"

namespace ttmem::serve::http {

using view::json::Json;

namespace {

constexpr std::string_view kLevels =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr char kNone = '.';

}  // namespace

char level_of(const ledger::CoreUse& core) {
  if (core.capacity == 0) return kNone;
  if (core.used == 0) return kLevels.front();
  const double share = static_cast<double>(core.used) / static_cast<double>(core.capacity);
  const auto level = static_cast<std::size_t>(1 + std::clamp(share, 0.0, 1.0) * 62);
  return kLevels[std::min(level, kLevels.size() - 1)];
}

CoreLevels::Grid CoreLevels::grid_of(const std::vector<ledger::CoreUse>& cores) {
  Grid grid;
  for (const ledger::CoreUse& use : cores) {
    grid.columns = std::max(grid.columns, use.core.x + 1u);
    grid.rows = std::max(grid.rows, use.core.y + 1u);
  }
  grid.levels.assign(std::size_t{grid.columns} * grid.rows, kNone);
  for (const ledger::CoreUse& use : cores) {
    grid.levels[std::size_t{use.core.y} * grid.columns + use.core.x] = level_of(use);
  }
  return grid;
}

std::string CoreLevels::message(const Grids& grids, const ledger::Snapshot& frame) {
  if (grids.empty()) return "";
  Json document = view::json::head("core_levels", frame);
  document["devices"] = Json::array();
  for (const auto& [id, grid] : grids) {
    document["devices"].push_back(
        {{"id", id}, {"columns", grid.columns}, {"rows", grid.rows}, {"levels", grid.levels}});
  }
  return "event: cores\ndata: " + view::json::text(document, view::JsonLayout::kCompact) + "\n\n";
}

std::string CoreLevels::step(const collect::Collector& collector) {
  Grids now, changed;
  for (const ledger::DeviceView& device : collector.snapshot().devices) {
    Grid grid = grid_of(collector.core_use(device.id));
    const auto old = devices_.find(device.id);
    if (old == devices_.end() || old->second != grid) changed[device.id] = grid;
    now[device.id] = std::move(grid);
  }
  devices_ = std::move(now);
  return message(changed, collector.snapshot());
}

std::string CoreLevels::all(const ledger::Snapshot& frame) const {
  return message(devices_, frame);
}

}  // namespace ttmem::serve::http
