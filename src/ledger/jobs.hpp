// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The processes of a snapshot, put together to jobs: what somebody started as one thing is shown as
// one thing. A job belongs to one user; a stranger who uses the same key has a job of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

// One process of a job.
struct RankView {
  std::string host;                      // where it runs
  const ProcessView* process = nullptr;  // of the snapshot
  std::optional<std::uint32_t> rank;
  Figure dram, l1;            // taken on all its devices; of the dead, when they ended
  Figure dram_peak, l1_peak;  // the most that was taken on each device, added up
  // Room between program L1 and L1 buffers on its tightest core; negative: a clash.
  std::optional<std::int64_t> headroom;
  std::optional<std::uint32_t> headroom_device;
};

// How far the ranks that live are from each other, each with all its processes. Ranks that do the
// same should hold the same.
struct JobSpread {
  Figure least, most;                                  // empty unless every rank is known
  std::optional<std::uint32_t> least_rank, most_rank;  // the first that has it
};

struct JobView {
  Job job;  // of its first rank; rank and mesh are those of nobody
  std::string user;
  std::uint32_t uid = 0;
  std::vector<RankView> ranks;            // by rank, the living first
  std::uint32_t present = 0;              // ranks that live
  std::optional<std::uint32_t> expected;  // how many there should be
  std::vector<std::uint32_t> missing;  // ranks that should live here or elsewhere, the first ones
  std::uint32_t missing_count = 0;     // all of them
  Figure dram, l1;                     // of the living
  Figure dram_peak, l1_peak;           // of all that ran at the same time, also if they ended
  JobSpread dram_spread, l1_spread;
  std::optional<std::size_t> tightest;  // index in ranks: least headroom of the living
  std::uint32_t died = 0;
  // Index in ranks: died first. Empty if several died and nobody was there to tell when.
  std::optional<std::size_t> first_death;
};

// Whether somebody who says `wanted` means this job: by its key, by its name, or by the front of
// its key, as rack/31 is that of rack/31.0; also by the job of Slurm that it runs in.
bool is_meant(const Job& job, std::string_view wanted);

// The largest sum of a peak over processes that ran at the same time: what ran one after the other
// is not added up. Empty if it is not known of each.
Figure most_at_once(const std::vector<RankView>& ranks, Figure RankView::* peak);

inline constexpr std::size_t kMostMissingNamed = 64;

// The largest in DRAM first. The snapshots must outlive them.
std::vector<JobView> jobs_of(const std::vector<const Snapshot*>& hosts);
inline std::vector<JobView> jobs_of(const Snapshot& snapshot) { return jobs_of({&snapshot}); }

}  // namespace ttmem::ledger
