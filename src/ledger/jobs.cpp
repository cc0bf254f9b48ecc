// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/jobs.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ttmem::ledger {
namespace {

RankView rank_of(const ProcessView& process) {
  RankView view;
  view.process = &process;
  view.rank = process.job.rank;
  view.dram = over_devices(process, [](const auto& on) { return on.space(Space::kDram).taken; });
  view.l1 = over_devices(process, [](const auto& on) { return on.space(Space::kL1).taken; });
  view.dram_peak =
      over_devices(process, [](const auto& on) { return on.space(Space::kDram).peak; });
  view.l1_peak = over_devices(process, [](const auto& on) { return on.space(Space::kL1).peak; });
  for (const ProcessDeviceView& device : process.devices) {
    const auto& room = device.figures.headroom.min;
    if (!room || (view.headroom && *view.headroom <= *room)) continue;
    view.headroom = room;
    view.headroom_device = device.id;
  }
  return view;
}

// The living first, then by rank; without one, last. Of a rank that was started again, the first.
void sort(std::vector<RankView>& ranks) {
  const auto place = [](const RankView& each) {
    constexpr auto kLast = std::numeric_limits<std::uint64_t>::max();
    return std::tuple(!each.process->alive, each.rank ? std::uint64_t{*each.rank} : kLast,
                      each.process->started, each.process->pid);
  };
  std::ranges::sort(ranks, {}, place);
}

// The end of the processes of one rank, which stand together; without a number each is one.
std::size_t end_of_rank(const std::vector<RankView>& ranks, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < ranks.size() && ranks[begin].rank && ranks[end].rank == ranks[begin].rank &&
         ranks[end].process->alive) {
    ++end;
  }
  return end;
}

JobSpread spread(const std::vector<RankView>& ranks, Figure RankView::* figure) {
  JobSpread spread;
  for (std::size_t begin = 0; begin < ranks.size() && ranks[begin].process->alive;) {
    const std::size_t end = end_of_rank(ranks, begin);
    WholeSum sum;
    for (std::size_t i = begin; i < end; ++i) sum.add(ranks[i].*figure);
    const Figure held = sum.result();
    if (!held) return {};  // of a part nothing is said about the whole
    if (!spread.least || *held < *spread.least) {
      spread.least = held;
      spread.least_rank = ranks[begin].rank;
    }
    if (!spread.most || *held > *spread.most) {
      spread.most = held;
      spread.most_rank = ranks[begin].rank;
    }
    begin = end;
  }
  return spread;
}

void count_ranks(JobView& job) {
  std::set<std::uint32_t> living;
  std::uint32_t unnumbered = 0;
  for (const RankView& each : job.ranks) {
    const auto& ranks = each.process->job.ranks;
    if (ranks) job.expected = std::max(job.expected.value_or(0), *ranks);
    if (!each.process->alive) continue;
    if (each.rank) {
      living.insert(*each.rank);
    } else {
      ++unnumbered;
    }
  }
  job.present = static_cast<std::uint32_t>(living.size()) + unnumbered;
  if (!job.expected || unnumbered > 0) return;
  // A rank beyond the number that there should be fills no gap.
  const auto meant = std::distance(living.begin(), living.lower_bound(*job.expected));
  job.missing_count = *job.expected - static_cast<std::uint32_t>(meant);
  for (std::uint32_t rank = 0; rank < *job.expected; ++rank) {
    if (job.missing.size() == kMostMissingNamed) break;
    if (!living.contains(rank)) job.missing.push_back(rank);
  }
}

void add_up(JobView& job) {
  WholeSum dram, l1;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const RankView& each = job.ranks[i];
    if (each.process->alive) {
      dram.add(each.dram);
      l1.add(each.l1);
      if (each.headroom && (!job.tightest || *each.headroom < *job.ranks[*job.tightest].headroom)) {
        job.tightest = i;
      }
    }
  }
  job.dram = dram.result();
  job.l1 = l1.result();
  job.dram_peak = most_at_once(job.ranks, &RankView::dram_peak);
  job.l1_peak = most_at_once(job.ranks, &RankView::l1_peak);
}

void find_first_death(JobView& job) {
  bool known = true;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const ProcessView& process = *job.ranks[i].process;
    if (process.alive || process.ended != Ended::kDied) continue;
    ++job.died;
    known = known && process.ended_at != 0;
    if (!job.first_death || process.ended_at < job.ranks[*job.first_death].process->ended_at) {
      job.first_death = i;
    }
  }
  if (job.died > 1 && !known) job.first_death.reset();
}

JobView job_of(std::vector<RankView> ranks) {
  JobView job;
  job.ranks = std::move(ranks);
  sort(job.ranks);
  const ProcessView& first = *job.ranks.front().process;
  job.job = first.job;
  job.job.rank.reset();
  job.job.mesh.reset();
  job.job.mesh_host_rank.reset();
  job.user = first.user;
  job.uid = first.uid;
  count_ranks(job);
  add_up(job);
  find_first_death(job);
  job.dram_spread = spread(job.ranks, &RankView::dram);
  job.l1_spread = spread(job.ranks, &RankView::l1);
  return job;
}

}  // namespace

bool is_meant(const Job& job, std::string_view wanted) {
  if (wanted.empty()) return false;
  const auto is_front_of = [&](const std::string& key) {
    return key.starts_with(wanted) && (key[wanted.size()] == '.' || key[wanted.size()] == '/');
  };
  return job.key == wanted || job.name == wanted || job.slurm == wanted || is_front_of(job.key) ||
         is_front_of(job.slurm);
}

Figure most_at_once(const std::vector<RankView>& ranks, Figure RankView::* peak) {
  // When how much comes and goes. Of those that nobody saw end, it stays.
  std::vector<std::tuple<TimeNs, bool, std::uint64_t>> changes;
  for (const RankView& each : ranks) {
    if (!(each.*peak)) return std::nullopt;
    const ProcessView& process = *each.process;
    changes.emplace_back(process.started, true, *(each.*peak));
    if (process.alive || process.ended_at <= process.started) continue;
    changes.emplace_back(process.ended_at, false, *(each.*peak));
  }
  std::ranges::sort(changes);  // at one moment, what goes is first
  Wide sum = 0, most = 0;
  for (const auto& [time, comes, bytes] : changes) {
    sum = comes ? sum + bytes : sum - bytes;
    most = std::max(most, sum);
  }
  return narrow(most);
}

std::vector<JobView> jobs_of(const std::vector<const Snapshot*>& hosts) {
  std::map<std::pair<std::string, std::uint32_t>, std::vector<RankView>> by_key;
  for (const Snapshot* snapshot : hosts) {
    for (const ProcessView& process : snapshot->processes) {
      if (process.job.key.empty()) continue;
      by_key[{process.job.key, process.uid}].push_back(rank_of(process));
      by_key[{process.job.key, process.uid}].back().host = snapshot->host;
    }
  }
  std::vector<JobView> jobs;
  for (auto& [key, ranks] : by_key) jobs.push_back(job_of(std::move(ranks)));
  std::ranges::stable_sort(jobs, std::greater{}, [](const JobView& each) {
    return std::pair(each.present > 0, each.dram.value_or(0));
  });
  return jobs;
}

}  // namespace ttmem::ledger
