// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/jobs.hpp"

#include <gtest/gtest.h>

namespace ttmem::ledger {
namespace {

ProcessView rank(std::int32_t pid, std::optional<std::uint32_t> number, Figure dram,
                 std::optional<std::int64_t> headroom = std::nullopt) {
  ProcessView process;
  process.pid = pid;
  process.alive = true;
  process.uid = 1000;
  process.job.key = "train";
  process.job.rank = number;
  process.job.ranks = 4;
  process.devices.resize(1);
  process.devices[0].id = 7;
  process.devices[0].figures.space(Space::kDram).taken = dram;
  process.devices[0].figures.space(Space::kL1).taken = 16;
  process.devices[0].figures.headroom.min = headroom;
  return process;
}

ProcessView dead(ProcessView process, TimeNs at, Ended how = Ended::kDied) {
  process.alive = false;
  process.ended = how;
  process.ended_at = at;
  return process;
}

JobView only_job(const Snapshot& snapshot) {
  auto jobs = jobs_of(snapshot);
  EXPECT_EQ(jobs.size(), 1u);
  return jobs.front();
}

TEST(Jobs, RanksArePutTogetherAndAddedUp) {
  Snapshot snapshot;
  snapshot.host = "n1";
  snapshot.processes = {rank(11, 2, 300, -64), rank(10, 0, 100, 4096), rank(12, 3, 100, 128)};
  snapshot.processes.emplace_back();  // of no job
  const JobView job = only_job(snapshot);
  EXPECT_EQ(job.present, 3u);
  EXPECT_EQ(job.expected, 4u);
  EXPECT_EQ(job.missing, std::vector<std::uint32_t>{1});
  EXPECT_EQ(job.dram, 500u);
  EXPECT_EQ(job.l1, 48u);
  EXPECT_EQ(job.ranks[0].process->pid, 10);
  EXPECT_EQ(job.ranks[0].host, "n1");
  ASSERT_TRUE(job.tightest);
  EXPECT_EQ(job.ranks[*job.tightest].rank, 2u);
  EXPECT_EQ(job.ranks[*job.tightest].headroom, -64);
  EXPECT_EQ(job.ranks[*job.tightest].headroom_device, 7u);
  EXPECT_EQ(job.dram_spread.least, 100u);
  EXPECT_EQ(job.dram_spread.least_rank, 0u);
  EXPECT_EQ(job.dram_spread.most, 300u);
  EXPECT_EQ(job.dram_spread.most_rank, 2u);
  EXPECT_EQ(job.l1_spread.least, job.l1_spread.most);
  EXPECT_EQ(job.died, 0u);
  EXPECT_FALSE(job.first_death);
}

TEST(Jobs, WhatIsNotKnownOfOneRankIsNotKnownOfTheJob) {
  Snapshot snapshot;
  snapshot.processes = {rank(10, 0, 100), rank(11, 1, std::nullopt)};
  const JobView job = only_job(snapshot);
  EXPECT_FALSE(job.dram);
  EXPECT_FALSE(job.dram_spread.least);
  EXPECT_EQ(job.l1, 32u);
  EXPECT_FALSE(job.tightest);
}

TEST(Jobs, TheFirstThatDiedIsNamedWithWhatItHeld) {
  Snapshot snapshot;
  snapshot.processes = {rank(10, 0, 100), dead(rank(11, 1, 200), 5000),
                        dead(rank(12, 2, 300), 4000), dead(rank(13, 3, 400), 1000, Ended::kClosed)};
  const JobView job = only_job(snapshot);
  EXPECT_EQ(job.present, 1u);
  EXPECT_EQ(job.dram, 100u);
  EXPECT_EQ(job.died, 2u);
  ASSERT_TRUE(job.first_death);
  EXPECT_EQ(job.ranks[*job.first_death].rank, 2u);
  EXPECT_EQ(job.ranks[*job.first_death].dram, 300u);
}

TEST(Jobs, NobodyIsFirstIfNobodySawWhen) {
  Snapshot snapshot;
  snapshot.processes = {dead(rank(11, 1, 200), 0), dead(rank(12, 2, 300), 4000)};
  EXPECT_EQ(only_job(snapshot).died, 2u);
  EXPECT_FALSE(only_job(snapshot).first_death);
  snapshot.processes.pop_back();
  EXPECT_TRUE(only_job(snapshot).first_death);
}

TEST(Jobs, ARankThatWasStartedAgainIsThere) {
  Snapshot snapshot;
  snapshot.processes = {dead(rank(10, 0, 100), 10), rank(20, 0, 100), rank(21, 0, 50),
                        rank(11, 1, 100)};
  const JobView job = only_job(snapshot);
  EXPECT_EQ(job.present, 2u);
  EXPECT_EQ(job.missing, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(job.dram, 250u);
  EXPECT_EQ(job.ranks.size(), 4u);
  EXPECT_FALSE(job.ranks.back().process->alive);
}

TEST(Jobs, RanksHoldWhatAllTheirProcessesHold) {
  Snapshot snapshot;
  snapshot.processes = {rank(10, 0, 100),          rank(20, 0, 30),  rank(11, 1, 90),
                        rank(21, 1, 40),           rank(12, 2, 130), rank(13, 3, 130),
                        dead(rank(14, 3, 500), 10)};
  const JobView job = only_job(snapshot);
  EXPECT_EQ(job.dram_spread.least, 130u);
  EXPECT_EQ(job.dram_spread.most, 130u);
  EXPECT_EQ(job.l1_spread.least, 16u);
  EXPECT_EQ(job.l1_spread.least_rank, 2u);
  EXPECT_EQ(job.l1_spread.most, 32u);
  EXPECT_EQ(job.l1_spread.most_rank, 0u);
}

TEST(Jobs, RanksBeyondTheNumberThatThereShouldBeFillNoGap) {
  Snapshot snapshot;
  snapshot.processes = {rank(10, 5, 1), rank(11, 6, 1), rank(12, 7, 1),
                        rank(13, 8, 1), rank(14, 9, 1), rank(15, 1, 1)};
  const JobView job = only_job(snapshot);
  EXPECT_EQ(job.present, 6u);
  EXPECT_EQ(job.missing, (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(job.missing_count, 3u);
}

TEST(Jobs, AStrangerWithTheSameKeyIsInAnotherJob) {
  Snapshot snapshot;
  snapshot.processes = {rank(10, 0, 100), rank(11, 1, 7)};
  snapshot.processes[1].uid = 1001;
  const auto jobs = jobs_of(snapshot);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].dram, 100u);
  EXPECT_EQ(jobs[1].dram, 7u);
}

TEST(Jobs, PeaksOfWhatRanOneAfterTheOtherAreNotAddedUp) {
  const auto ran = [](std::int32_t pid, Figure peak, TimeNs from, TimeNs to) {
    ProcessView process = dead(rank(pid, 0, 0), to, Ended::kClosed);
    process.started = from;
    process.devices[0].figures.space(Space::kDram).peak = peak;
    return process;
  };
  Snapshot snapshot;
  snapshot.processes = {ran(1, 100, 10, 20), ran(2, 90, 20, 30), ran(3, 70, 25, 60),
                        ran(4, 50, 61, 70)};
  EXPECT_EQ(only_job(snapshot).dram_peak, 160u);
  snapshot.processes[0].ended_at = 0;  // nobody saw when
  EXPECT_EQ(only_job(snapshot).dram_peak, 260u);
  snapshot.processes.push_back(ran(5, std::nullopt, 80, 90));
  EXPECT_FALSE(only_job(snapshot).dram_peak);
}

TEST(Jobs, WhoRunsInAJobOfSlurmIsMeantByIt) {
  Job job{"mine", "", JobSource::kGiven, {}, {}, {}, {}, "rack/31.0"};
  for (const char* wanted : {"mine", "rack/31.0", "rack/31"}) {
    EXPECT_TRUE(is_meant(job, wanted)) << wanted;
  }
  EXPECT_FALSE(is_meant(job, "rack/3"));
  EXPECT_FALSE(is_meant(job, ""));
}

TEST(Jobs, WhoIsMeant) {
  const Job job{"rack/31.0", "train", JobSource::kSlurm, {}, {}, {}, {}};
  for (const char* wanted : {"rack/31.0", "train", "rack/31", "rack"}) {
    EXPECT_TRUE(is_meant(job, wanted)) << wanted;
  }
  for (const char* wanted : {"rack/3", "31", "rack/31.0.", "", "tr"}) {
    EXPECT_FALSE(is_meant(job, wanted)) << wanted;
  }
}

TEST(Jobs, OneJobOverTwoHosts) {
  Snapshot first, second;
  first.host = "n1";
  second.host = "n2";
  first.processes = {rank(10, 0, 100), rank(11, 1, 100)};
  second.processes = {rank(10, 2, 100), rank(11, 3, 130)};
  const auto jobs = jobs_of({&first, &second});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].present, 4u);
  EXPECT_TRUE(jobs[0].missing.empty());
  EXPECT_EQ(jobs[0].dram, 430u);
  EXPECT_EQ(jobs[0].ranks[3].host, "n2");
}

}  // namespace
}  // namespace ttmem::ledger
