// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/fleet.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace ttmem::fleet {
namespace {

std::string rank_text(const ledger::RankView& view) {
  return view.rank ? std::to_string(*view.rank) : "";
}

}  // namespace

std::uint64_t Fleet::fresh() const {
  return static_cast<std::uint64_t>(std::ranges::count(hosts, HostState::kFresh, &HostRow::state));
}

bool Fleet::is_partial() const { return fresh() < hosts.size(); }

void add_known(const ledger::Figure& part, ledger::Figure& sum) {
  if (part) sum = sum.value_or(0) + *part;
}

FleetTotals totals_of(const Fleet& fleet) {
  FleetTotals totals;
  for (const HostRow& host : fleet.hosts) {
    if (host.state != HostState::kFresh) continue;
    totals.devices += host.devices.value_or(0);
    if (host.devices == 0u) {  // nothing is there, which is known
      for (auto* sum : {&totals.dram, &totals.dram_capacity, &totals.l1, &totals.l1_capacity}) {
        add_known(0, *sum);
      }
    }
    totals.in_use += host.in_use.value_or(0);
    totals.untold += host.untold.value_or(0);
    add_known(host.dram, totals.dram);
    add_known(host.dram_capacity, totals.dram_capacity);
    add_known(host.l1, totals.l1);
    add_known(host.l1_capacity, totals.l1_capacity);
    if (host.headroom && (!totals.headroom || *host.headroom < *totals.headroom)) {
      totals.headroom = host.headroom;
    }
  }
  return totals;
}

JobRow row_of(const ledger::JobView& job) {
  JobRow row;
  row.key = job.job.key;
  row.name = job.job.name;
  row.user = job.user.empty() ? std::to_string(job.uid) : job.user;
  row.present = job.present;
  if (job.expected) row.expected = *job.expected;
  row.died = job.died;
  row.dram = job.dram;
  row.l1 = job.l1;
  row.dram_least = job.dram_spread.least;
  row.dram_most = job.dram_spread.most;
  std::set<std::string> hosts;
  for (const ledger::RankView& rank : job.ranks) {
    if (rank.process->alive) hosts.insert(rank.host);
  }
  row.hosts = hosts.size();
  if (job.first_death) {
    const ledger::RankView& first = job.ranks[*job.first_death];
    row.first_death =
        FirstDeath{first.process->ended_at, rank_text(first), first.host, first.dram, first.l1};
  }
  if (!job.tightest) return row;
  const ledger::RankView& tightest = job.ranks[*job.tightest];
  row.headroom = tightest.headroom;
  row.headroom_host = tightest.host;
  row.headroom_rank = rank_text(tightest);
  return row;
}

void sort(Fleet& fleet) {
  std::ranges::sort(fleet.hosts, {}, [](const HostRow& host) {
    return std::tuple(host.state, -host.dram_share().value_or(-1), host.name);
  });
  std::ranges::sort(fleet.jobs, [](const JobRow& left, const JobRow& right) {
    return std::tuple(right.dram.value_or(0), left.key, left.user) <
           std::tuple(left.dram.value_or(0), right.key, right.user);
  });
}

}  // namespace ttmem::fleet
