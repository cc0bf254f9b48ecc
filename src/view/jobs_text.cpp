// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ledger/jobs.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/table.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::JobView;
using ledger::RankView;

constexpr std::size_t kMissingShown = 8;

std::string rank_name(const std::optional<std::uint32_t>& rank) {
  return rank ? std::to_string(*rank) : "?";
}

std::string rank_label(const RankView& view) {
  return fmt::format("rank {} ({}{})", rank_name(view.rank), process_label(*view.process),
                     view.host.empty() ? "" : " on " + printable(view.host));
}

std::string headroom_text(const RankView& view) {
  return view.headroom ? signed_bytes_text(*view.headroom) : "?";
}

// "2, 5, 7 and 3 more"
std::string missing_text(const JobView& job) {
  const std::size_t shown = std::min(job.missing.size(), kMissingShown);
  std::string text =
      fmt::format("{}", fmt::join(job.missing.begin(),
                                  job.missing.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return job.missing_count > shown ? text + fmt::format(" and {} more", job.missing_count - shown)
                                   : text;
}

void add_spread(std::string_view space, const ledger::JobSpread& spread, JobNotes& notes) {
  if (!spread.least || *spread.least == *spread.most) return;
  notes.push_back(
      {Tone::kPlain, fmt::format("{} differs between ranks by {}: {} on rank {}, {} on rank {}",
                                 space, bytes_text(*spread.most - *spread.least),
                                 bytes_text(*spread.least), rank_name(spread.least_rank),
                                 bytes_text(*spread.most), rank_name(spread.most_rank))});
}

void add_deaths(const JobView& job, ledger::TimeNs now, JobNotes& notes) {
  if (job.died > 1 && !job.first_death) {
    notes.push_back({Tone::kBad, fmt::format("{} died; no daemon was there to tell which first",
                                             count_text(job.died, "process"))});
  }
  if (!job.first_death) return;
  const RankView& rank = job.ranks[*job.first_death];
  notes.push_back({Tone::kBad, fmt::format("first to die: {}, {}, holding DRAM {}, L1 {}",
                                           rank_label(rank), rank_state_text(rank, now),
                                           bytes_text(rank.dram), bytes_text(rank.l1))});
}

std::string rank_table(const JobView& job, ledger::TimeNs now, const Style& style) {
  Table table({{"Rank", Align::kRight},
               {"Host"},
               {"PID", Align::kRight},
               {"Mesh", Align::kRight},
               {"DRAM", Align::kRight},
               {"L1", Align::kRight},
               {"Headroom", Align::kRight},
               {"State"}});
  for (const RankView& rank : job.ranks) {
    const auto& mesh = rank.process->job.mesh;
    table.add({rank_name(rank.rank), printable(rank.host), rank.process->label(),
               mesh ? std::to_string(*mesh) : "", bytes_text(rank.dram), bytes_text(rank.l1),
               headroom_text(rank), rank_state_text(rank, now)},
              rank.process->alive ? Tone::kPlain : Tone::kFaint);
  }
  return table.text(style, 2);
}

}  // namespace

std::string rank_state_text(const RankView& view, ledger::TimeNs now) {
  const ledger::ProcessView& process = *view.process;
  if (process.alive) return "alive";
  const std::string ago =
      process.ended_at == 0 ? "" : " " + age_text(process.ended_at, now) + " ago";
  return std::string(name(process.ended)) + ago;
}

std::string job_title(const JobView& job) {
  const std::string expected = job.expected ? fmt::format(" of {}", *job.expected) : "";
  std::string text = fmt::format("Job {}", printable(job.job.key));
  if (!job.job.name.empty() && job.job.name != job.job.key) {
    text += fmt::format(" \"{}\"", printable(job.job.name));
  }
  return text + fmt::format(": {}{} {}, user {}", job.present, expected,
                            job.present == 1 && !job.expected ? "rank" : "ranks",
                            job.user.empty() ? std::to_string(job.uid) : printable(job.user));
}

JobNotes job_notes(const JobView& job, ledger::TimeNs now) {
  JobNotes notes;
  if (!job.missing.empty()) {
    notes.push_back({Tone::kWarn, fmt::format("not here: rank {} (ended, or on another host)",
                                              missing_text(job))});
  }
  if (job.tightest) {
    const RankView& rank = job.ranks[*job.tightest];
    notes.push_back({*rank.headroom < 0 ? Tone::kBad : Tone::kPlain,
                     fmt::format("least L1 headroom: {} on device {}, {}", headroom_text(rank),
                                 *rank.headroom_device, rank_label(rank))});
  }
  add_spread("DRAM", job.dram_spread, notes);
  add_spread("L1", job.l1_spread, notes);
  add_deaths(job, now, notes);
  return notes;
}

std::string jobs_text(const std::vector<JobView>& jobs, ledger::TimeNs now, const Style& style) {
  if (jobs.empty()) {
    return "No process names a job: start it with srun, mpirun or tt-run, or with\n"
           "`ttmem run --job NAME`; docs/jobs.md says what counts.\n";
  }
  std::string text;
  for (const JobView& job : jobs) {
    text += (text.empty() ? "" : "\n") + style.paint(Tone::kStrong, job_title(job)) +
            fmt::format(": DRAM {}, L1 {}\n", bytes_text(job.dram), bytes_text(job.l1));
    for (const auto& [tone, note] : job_notes(job, now)) {
      text += style.paint(tone, "  " + note) + "\n";
    }
    text += rank_table(job, now, style);
  }
  return text;
}

}  // namespace ttmem::view
