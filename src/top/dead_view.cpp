// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "top/listing.hpp"
#include "top/views.hpp"
#include "view/labels.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

std::uint64_t held_count(const ledger::ProcessView& process) {
  std::uint64_t count = 0;
  for (const auto& device : process.devices) {
    for (const ledger::Space space : ledger::kDeviceSpaces) {
      count += device.figures.space(space).count.value_or(0);
    }
  }
  return count;
}

std::vector<ListCell> cells(const Scene& scene, const ProcessRow& row) {
  const ledger::ProcessView& process = *row.process;
  const bool died = process.ended == ledger::Ended::kDied;
  return {{process.label(), looks::kSoft, {}},
          {view::user_text(process), looks::kSoft, {}},
          {process.name, looks::kText.bold(), {}},
          {std::string(ledger::name(process.ended)), died ? looks::kBad : looks::kSoft, {}},
          {view::age_text(process.ended_at, scene.frame.snapshot.time), looks::kText, {}},
          {view::age_text(process.started, process.ended_at), looks::kSoft, {}},
          {device_list(process), looks::kText, {}},
          {view::exact_text(held_count(process)), looks::kText, {}},
          {scene.bytes(row.dram), looks::kText, {}},
          {scene.bytes(row.l1), looks::kText, {}},
          {scene.bytes(row.kernels), looks::kSoft, {}},
          {process.failures.empty() ? "" : view::gist(process.failures.back().message),
           looks::kWarn,
           {}}};
}

}  // namespace

void draw_dead(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const ListState& list = scene.state.list();
  const auto rows = process_rows(scene, false, list);
  const view::Rect inside = draw_panel(canvas, place, fmt::format("Dead {}", rows.size()),
                                       "what they held at the end counts nowhere");
  if (rows.empty()) {
    draw_centred(
        canvas, inside,
        {list.filter.empty() ? "No process has ended." : "No process matches the filter."});
    return;
  }
  const int bytes = scene.state.exact ? 15 : 10;
  Listing listing = listing_of(scene.state, rows.size());
  const int pid = pid_columns(scene, false);
  listing.columns = {
      {"PID", pid, true, 0, 0, "pid"},           {"USER", 8, false, 5, 0, "user"},
      {"NAME", 15, false, 0, 1, "name"},         {"HOW", 6, false, 0, 0, ""},
      {"AGO", 9, true, 0, 0, "ended"},           {"LIVED", 9, true, 6, 0, "lived"},
      {"DEVICES", 7, false, 4, 0, ""},           {"BUFFERS", 8, true, 3, 0, ""},
      {"DRAM", bytes, true, 0, 0, "DRAM"},       {"L1 USED", bytes, true, 1, 0, "L1 used"},
      {"KERNELS", bytes, true, 2, 0, "kernels"}, {"LAST FAILURE", 12, false, 7, 2, ""}};
  listing.row = [&](int row) { return cells(scene, rows[static_cast<std::size_t>(row)]); };
  draw_list(canvas, {inside.x + 1, inside.y, inside.columns - 2, inside.rows}, listing);
}

}  // namespace ttmem::top
