// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "fleet/fleet_text.hpp"
#include "top/fleet_rows.hpp"
#include "top/listing.hpp"
#include "top/views.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using fleet::JobRow;

std::string ranks_text(const JobRow& job) {
  return job.expected ? fmt::format("{} of {}", known_count(job.present), *job.expected)
                      : known_count(job.present);
}

bool is_incomplete(const JobRow& job) {
  return job.expected && job.present && *job.present < *job.expected;
}

// What a single rank holds: one figure where all hold the same, else the least and the most.
std::string rank_spread(const Scene& scene, const JobRow& job) {
  if (job.dram_least == job.dram_most) return scene.bytes(job.dram_least);
  return fmt::format("{} to {}", scene.bytes(job.dram_least), scene.bytes(job.dram_most));
}

std::string whose(const JobRow& job) {
  std::string text = job.headroom_rank.empty() ? "" : "rank " + job.headroom_rank;
  if (!job.headroom_host.empty()) text += (text.empty() ? "on " : " on ") + job.headroom_host;
  return text;
}

ListCell died_cell(const JobRow& job) {
  return {known_count(job.died), job.died.value_or(0) > 0 ? looks::kBad : looks::kSoft, {}};
}

int byte_columns(const Scene& scene) { return scene.state.exact ? 15 : 10; }

std::vector<ListColumn> job_columns(const Scene& scene) {
  const int bytes = byte_columns(scene);
  return {{"JOB", 12, false, 0, 3, "job"},
          {"NAME", 12, false, 7, 1, ""},
          {"USER", 8, false, 5, 0, "user"},
          {"RANKS", 8, true, 0, 0, "missing"},
          {"HOSTS", 5, true, scene.state.fleet ? 3 : 9, 0, ""},
          {"DRAM", bytes, true, 0, 0, "DRAM"},
          {"L1", bytes, true, 2, 0, "L1"},
          {"DRAM PER RANK", 2 * bytes + 4, true, 6, 0, ""},
          {"DIED", 4, true, 1, 0, "died"},
          {"HEADROOM", bytes, true, 0, 0, "headroom"},
          {"WHOSE", 12, false, 4, 2, ""}};
}

std::vector<ListCell> job_cells(const Scene& scene, const JobRow& job) {
  return {{job.key, looks::kText.bold(), {}},
          {job.name, looks::kText, {}},
          {job.user, looks::kSoft, {}},
          {ranks_text(job), is_incomplete(job) ? looks::kWarn : looks::kText, {}},
          {known_count(job.hosts), looks::kSoft, {}},
          {scene.bytes(job.dram), looks::kText, {}},
          {scene.bytes(job.l1), looks::kText, {}},
          {rank_spread(scene, job), looks::kText, {}},
          died_cell(job),
          headroom_cell(scene, job.headroom),
          {whose(job), looks::kSoft, {}}};
}

void draw_job_list(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto rows = job_rows(scene);
  const view::Rect inside = draw_panel(canvas, place, fmt::format("Jobs {}", rows.size()),
                                       "ranks that do the same should hold the same");
  if (scene.state.fleet && !scene.frame.fleet) return draw_centred(canvas, inside, {"reading …"});
  const view::Rect below =
      draw_news(canvas, inside, scene.frame.fleet ? gaps_of(*scene.frame.fleet) : view::JobNotes{});
  if (rows.empty() && scene.state.list().filter.empty()) {
    return draw_centred(
        canvas, below,
        {"No process names a job.", "", "srun, mpirun, tt-run and Jobs of Kubernetes name one;",
         "else start it with   ttmem run --job NAME python model.py"});
  }
  if (rows.empty()) return draw_centred(canvas, below, {"No job matches the filter."});
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = job_columns(scene);
  listing.row = [&](int row) { return job_cells(scene, rows[static_cast<std::size_t>(row)]); };
  draw_list(canvas, below, listing);
}

// ---- one job

view::Look look_of(view::Tone tone) {
  if (tone == view::Tone::kBad) return looks::kBad;
  return tone == view::Tone::kWarn ? looks::kWarn : looks::kText;
}

// Returns the place below; the rows keep three lines at least.
view::Rect draw_notes(Canvas& canvas, const view::Rect& inside, const view::JobNotes& notes) {
  const int lines = std::clamp(inside.rows - 4, 0, static_cast<int>(notes.size()));
  for (int i = 0; i < lines; ++i) {
    const auto& [tone, text] = notes[static_cast<std::size_t>(i)];
    canvas.grid.text(inside.x + 1, inside.y + i, text, look_of(tone), inside.columns - 2);
  }
  const int used = lines > 0 ? lines + 1 : 0;
  return {inside.x + 1, inside.y + used, inside.columns - 2, inside.rows - used};
}

std::vector<ListCell> rank_cells(const Scene& scene, const ledger::RankView& rank) {
  const ledger::ProcessView& process = *rank.process;
  const auto& mesh = process.job.mesh;
  const view::Look look = process.alive ? looks::kText : looks::kSoft;
  const bool died = !process.alive && process.ended == ledger::Ended::kDied;
  return {{rank.rank ? std::to_string(*rank.rank) : "?", look.bold(), {}},
          {process.label(), looks::kSoft, {}},
          {process.name, look, {}},
          {mesh ? std::to_string(*mesh) : "", look, {}},
          {scene.bytes(rank.dram), look, {}},
          {scene.bytes(rank.l1), look, {}},
          {scene.bytes(rank.dram_peak), looks::kSoft, {}},
          headroom_cell(scene, rank.headroom),
          {view::rank_state_text(rank, scene.frame.snapshot.time),
           died ? looks::kBad : looks::kSoft,
           {}}};
}

void draw_ranks(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto job = open_job(scene);
  if (!job) {
    const view::Rect inside = draw_panel(canvas, place, "Job " + scene.state.job->key);
    return draw_centred(canvas, inside, {"Nothing is left of this job.", "", "Esc: all jobs"});
  }
  const view::Rect inside =
      draw_panel(canvas, place, view::job_title(*job),
                 fmt::format("DRAM {}   L1 {}", scene.bytes(job->dram), scene.bytes(job->l1)));
  const view::Rect below =
      draw_notes(canvas, inside, view::job_notes(*job, scene.frame.snapshot.time));
  const int bytes = byte_columns(scene);
  Listing listing = listing_of(scene.state, job->ranks.size());
  listing.columns = {{"RANK", 5, true, 0, 0, ""},          {"PID", 7, true, 1, 0, ""},
                     {"NAME", 12, false, 2, 1, ""},        {"MESH", 4, true, 5, 0, ""},
                     {"DRAM", bytes, true, 0, 0, ""},      {"L1", bytes, true, 0, 0, ""},
                     {"DRAM PEAK", bytes, true, 4, 0, ""}, {"HEADROOM", bytes, true, 0, 0, ""},
                     {"STATE", 14, false, 3, 0, ""}};
  listing.row = [&](int row) {
    return rank_cells(scene, job->ranks[static_cast<std::size_t>(row)]);
  };
  draw_list(canvas, below, listing);
}

std::vector<ListCell> part_cells(const Scene& scene, const fleet::JobPart& part) {
  const JobRow& row = part.row;
  return {{part.host, looks::kText.bold(), {}},
          {known_count(row.present), looks::kText, {}},
          {scene.bytes(row.dram), looks::kText, {}},
          {scene.bytes(row.l1), looks::kText, {}},
          {rank_spread(scene, row), looks::kText, {}},
          died_cell(row),
          headroom_cell(scene, row.headroom),
          {row.headroom_rank.empty() ? "" : "rank " + row.headroom_rank, looks::kSoft, {}}};
}

view::JobNotes notes_of(const Scene& scene, const JobRow& job) {
  view::JobNotes notes;
  notes.push_back({is_incomplete(job) ? view::Tone::kWarn : view::Tone::kPlain,
                   fmt::format("{} ranks live, on {} hosts; DRAM {} per rank", ranks_text(job),
                               known_count(job.hosts), rank_spread(scene, job))});
  if (job.first_death) notes.push_back({view::Tone::kBad, fleet::death_text(*job.first_death)});
  return notes;
}

void draw_parts(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto rows = part_rows(scene);
  const view::Rect inside = draw_panel(
      canvas, place, fmt::format("Job {} of {}", scene.state.job->key, scene.state.job->user));
  view::JobNotes notes = gaps_of(*scene.frame.fleet);
  for (const JobRow& job : scene.frame.fleet->fleet.jobs) {
    if (JobId{job.key, job.user} == *scene.state.job)
      std::ranges::copy(notes_of(scene, job), std::back_inserter(notes));
  }
  const view::Rect below = draw_notes(canvas, inside, notes);
  if (rows.empty()) return draw_centred(canvas, below, {"Prometheus has nothing of this job."});
  const int bytes = byte_columns(scene);
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = {{"HOST", 16, false, 0, 2, ""},
                     {"RANKS", 5, true, 0, 0, ""},
                     {"DRAM", bytes, true, 0, 0, ""},
                     {"L1", bytes, true, 1, 0, ""},
                     {"DRAM PER RANK", 2 * bytes + 4, true, 4, 0, ""},
                     {"DIED", 4, true, 2, 0, ""},
                     {"HEADROOM", bytes, true, 0, 0, ""},
                     {"WHOSE", 10, false, 3, 0, ""}};
  listing.row = [&](int row) { return part_cells(scene, *rows[static_cast<std::size_t>(row)]); };
  draw_list(canvas, below, listing);
}

}  // namespace

void draw_jobs(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  if (!scene.state.job) return draw_job_list(canvas, place, scene);
  return scene.frame.fleet ? draw_parts(canvas, place, scene) : draw_ranks(canvas, place, scene);
}

}  // namespace ttmem::top
