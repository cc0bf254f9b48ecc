// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The rows of the lists of jobs and hosts, in the order and through the filter that the state asks
// for. A job is the same row, whether this host knows it or an engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.hpp"
#include "ledger/jobs.hpp"
#include "top/canvas.hpp"
#include "top/listing.hpp"
#include "view/text.hpp"

namespace ttmem::top {

std::vector<fleet::JobRow> job_rows(const Scene& scene);

// The job that was opened, on this host: its ranks are the rows. Empty if it is gone.
std::optional<ledger::JobView> open_job(const Scene& scene);
// The same of a fleet: the rows are its hosts, the tightest first.
std::vector<const fleet::JobPart*> part_rows(const Scene& scene);

// Jobs, or rows of the one that was opened.
int job_row_count(const Scene& scene);

std::vector<const fleet::HostRow*> host_rows(const Scene& scene);
// The devices of the host that was opened.
std::vector<const fleet::DeviceRow*> host_device_rows(const Scene& scene);

// ---- what both lists have

// Of a fleet: that the engine does not answer, and who is in no sum.
view::JobNotes gaps_of(const FleetDetails& details);
// Such lines above rows, which keep some; returns the place below.
view::Rect draw_news(Canvas& canvas, const view::Rect& inside, const view::JobNotes& news);

// "?" where it is not known.
std::string known_count(const std::optional<std::uint64_t>& count);
// Red below zero.
ListCell headroom_cell(const Scene& scene, const std::optional<std::int64_t>& headroom);

}  // namespace ttmem::top
