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

std::string state_text(const RankView& view, ledger::TimeNs now) {
  const ledger::ProcessView& process = *view.process;
  if (process.alive) return "alive";
  const std::string ago =
      process.ended_at == 0 ? "" : " " + age_text(process.ended_at, now) + " ago";
  return std::string(name(process.ended)) + ago;
}

std::string title_text(const JobView& job) {
  const std::string expected = job.expected ? fmt::format(" of {}", *job.expected) : "";
  std::string text = fmt::format("Job {}", printable(job.job.key));
  if (!job.job.name.empty() && job.job.name != job.job.key) {
    text += fmt::format(" \"{}\"", printable(job.job.name));
  }
  return text + fmt::format(": {}{} {}, user {}", job.present, expected,
                            job.present == 1 && !job.expected ? "rank" : "ranks",
                            job.user.empty() ? std::to_string(job.uid) : printable(job.user));
}

// "2, 5, 7 and 3 more"
std::string missing_text(const JobView& job) {
  const std::size_t shown = std::min(job.missing.size(), kMissingShown);
  std::string text =
      fmt::format("{}", fmt::join(job.missing.begin(),
                                  job.missing.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  const std::uint32_t all = job.expected.value_or(0) - job.present;
  return all > shown ? text + fmt::format(" and {} more", all - shown) : text;
}

std::string spread_text(std::string_view space, const ledger::JobSpread& spread) {
  if (!spread.least || *spread.least == *spread.most) return {};
  return fmt::format("  {} differs between ranks by {}: {} on rank {}, {} on rank {}\n", space,
                     bytes_text(*spread.most - *spread.least), bytes_text(*spread.least),
                     rank_name(spread.least_rank), bytes_text(*spread.most),
                     rank_name(spread.most_rank));
}

std::string notes(const JobView& job, ledger::TimeNs now, const Style& style) {
  std::string text;
  if (!job.missing.empty()) {
    text += style.paint(Tone::kWarn,
                        "  not here: rank " + missing_text(job) + " (ended, or on another host)") +
            "\n";
  }
  if (job.tightest) {
    const RankView& rank = job.ranks[*job.tightest];
    const std::string line =
        fmt::format("  least L1 headroom: {} on device {}, {}", headroom_text(rank),
                    *rank.headroom_device, rank_label(rank));
    text += (*rank.headroom < 0 ? style.paint(Tone::kBad, line) : line) + "\n";
  }
  text += spread_text("DRAM", job.dram_spread) + spread_text("L1", job.l1_spread);
  if (job.died > 1 && !job.first_death) {
    text +=
        style.paint(Tone::kBad, fmt::format("  {} died; no daemon was there to tell which first",
                                            count_text(job.died, "process"))) +
        "\n";
  }
  if (job.first_death) {
    const RankView& rank = job.ranks[*job.first_death];
    text += style.paint(Tone::kBad, fmt::format("  first to die: {}, {}, holding DRAM {}, L1 {}",
                                                rank_label(rank), state_text(rank, now),
                                                bytes_text(rank.dram), bytes_text(rank.l1))) +
            "\n";
  }
  return text;
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
               headroom_text(rank), state_text(rank, now)},
              rank.process->alive ? Tone::kPlain : Tone::kFaint);
  }
  return table.text(style, 2);
}

}  // namespace

std::string jobs_text(const std::vector<JobView>& jobs, ledger::TimeNs now, const Style& style) {
  if (jobs.empty()) {
    return "No process names a job: start it with srun, mpirun or tt-run, or with\n"
           "`ttmem run --job NAME`; docs/jobs.md says what counts.\n";
  }
  std::string text;
  for (const JobView& job : jobs) {
    text += (text.empty() ? "" : "\n") + style.paint(Tone::kStrong, title_text(job)) +
            fmt::format(": DRAM {}, L1 {}\n", bytes_text(job.dram), bytes_text(job.l1)) +
            notes(job, now, style) + rank_table(job, now, style);
  }
  return text;
}

}  // namespace ttmem::view
