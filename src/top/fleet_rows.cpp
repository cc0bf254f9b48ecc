// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/fleet_rows.hpp"

#include <algorithm>
#include <utility>

#include "fleet/fleet_text.hpp"
#include "top/list_rows.hpp"
#include "top/sort_orders.hpp"

namespace ttmem::top {
namespace {

const ListState& list_of(const Scene& scene, View view) {
  return scene.state.lists[static_cast<std::size_t>(view)];
}

template <typename Row>
std::vector<const Row*> pointers(const std::vector<Row>& rows) {
  std::vector<const Row*> result;
  for (const Row& row : rows) result.push_back(&row);
  return result;
}

}  // namespace

std::vector<fleet::JobRow> job_rows(const Scene& scene) {
  std::vector<fleet::JobRow> rows;
  if (scene.frame.fleet) {
    rows = scene.frame.fleet->fleet.jobs;
  } else {
    for (const ledger::JobView& job : ledger::jobs_of(scene.frame.snapshot)) {
      rows.push_back(fleet::row_of(job));
    }
  }
  const ListState& list = list_of(scene, View::kJobs);
  std::erase_if(rows, [&](const fleet::JobRow& row) {
    return !matches(list.filter, {row.key, row.name, row.user, row.headroom_host});
  });
  sort_rows(rows, job_orders(), list);
  return rows;
}

std::optional<ledger::JobView> open_job(const Scene& scene) {
  if (!scene.state.job) return std::nullopt;
  for (ledger::JobView& job : ledger::jobs_of(scene.frame.snapshot)) {
    const fleet::JobRow row = fleet::row_of(job);
    if (JobId{row.key, row.user} == scene.state.job) return std::move(job);
  }
  return std::nullopt;
}

std::vector<const fleet::JobPart*> part_rows(const Scene& scene) {
  if (!scene.frame.fleet || scene.frame.fleet->job != scene.state.job) return {};
  auto rows = pointers(scene.frame.fleet->parts);
  std::ranges::stable_sort(rows, {}, [](const fleet::JobPart* part) {
    return std::pair(!part->row.headroom, part->row.headroom.value_or(0));
  });
  return rows;
}

int job_row_count(const Scene& scene) {
  if (!scene.state.job) return static_cast<int>(job_rows(scene).size());
  if (scene.state.fleet) return static_cast<int>(part_rows(scene).size());
  const auto job = open_job(scene);
  return job ? static_cast<int>(job->ranks.size()) : 0;
}

std::vector<const fleet::HostRow*> host_rows(const Scene& scene) {
  if (!scene.frame.fleet) return {};
  auto rows = pointers(scene.frame.fleet->fleet.hosts);
  const ListState& list = list_of(scene, View::kHosts);
  std::erase_if(rows, [&](const fleet::HostRow* row) {
    return !matches(list.filter, {row->name, ledger::name(row->state), row->problem});
  });
  sort_rows(rows, host_orders(), list);
  return rows;
}

std::vector<const fleet::DeviceRow*> host_device_rows(const Scene& scene) {
  if (!scene.frame.fleet) return {};
  return pointers(scene.frame.fleet->devices);
}

view::JobNotes gaps_of(const FleetDetails& details) {
  view::JobNotes notes;
  if (!details.problem.empty()) notes.push_back({view::Tone::kBad, details.problem});
  for (const std::string& gap : fleet::gaps_of(details.fleet)) {
    notes.push_back({view::Tone::kWarn, gap});
  }
  return notes;
}

view::Rect draw_news(Canvas& canvas, const view::Rect& inside, const view::JobNotes& news) {
  view::Rect rest{inside.x + 1, inside.y, inside.columns - 2, inside.rows};
  for (const auto& [tone, text] : news) {
    if (rest.rows <= 6) break;
    canvas.grid.text(rest.x, rest.y, text, tone == view::Tone::kBad ? looks::kBad : looks::kWarn,
                     rest.columns);
    ++rest.y;
    --rest.rows;
  }
  return rest;
}

std::string known_count(const std::optional<std::uint64_t>& count) {
  return count ? std::to_string(*count) : "?";
}

ListCell headroom_cell(const Scene& scene, const std::optional<std::int64_t>& headroom) {
  return {scene.signed_bytes(headroom), headroom.value_or(0) < 0 ? looks::kBad : looks::kText, {}};
}

}  // namespace ttmem::top
