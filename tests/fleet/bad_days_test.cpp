// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Hosts that answer, but not as one would like: each is a clear line, and nothing is invented.
#include <gtest/gtest.h>

#include "fleet/ask_hosts.hpp"
#include "fleet/fleet_text.hpp"

namespace ttmem::fleet {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kNow = 1'790'000'000 * kSecond;

ledger::Snapshot snapshot(const std::string& host, const std::string& boot, std::uint64_t time) {
  ledger::Snapshot snapshot;
  snapshot.host = host;
  snapshot.boot_id = boot;
  snapshot.time = time;
  return snapshot;
}

ledger::ProcessView rank(std::uint32_t number, bool alive, std::uint64_t started) {
  ledger::ProcessView process;
  process.pid = static_cast<std::int32_t>(100 + started);
  process.started = started;
  process.alive = alive;
  process.ended = alive ? ledger::Ended{} : ledger::Ended::kDied;
  process.ended_at = alive ? 0 : kNow - kSecond;
  process.job.key = "train";
  process.job.rank = number;
  process.job.ranks = 2;
  return process;
}

std::string problems_of(const Fleet& fleet) {
  std::string text;
  for (const std::string& problem : fleet.problems) text += problem + "\n";
  return text;
}

TEST(BadDays, AClockThatIsOffIsSaid) {
  const Fleet fleet = fleet_of({{"a", snapshot("a", "1", kNow)},
                                {"b", snapshot("b", "2", kNow - 300 * kSecond)},
                                {"c", snapshot("c", "3", kNow + 90 * kSecond)},
                                {"d", snapshot("d", "4", kNow - 3 * kSecond)}},
                               kNow);
  EXPECT_EQ(problems_of(fleet),
            "the clock of b is 5 m 00 s behind: its times are not ours\n"
            "the clock of c is 1 m 30 s ahead: its times are not ours\n");
  EXPECT_EQ(fleet.fresh(), 4u);
}

TEST(BadDays, TwoHostsWithOneNameAreTwo) {
  const Fleet fleet = fleet_of(
      {{"a:7171", snapshot("node", "1", kNow)}, {"b:7171", snapshot("node", "2", kNow)}}, kNow);
  EXPECT_EQ(problems_of(fleet), "2 hosts call themselves node: a:7171, b:7171\n");
  EXPECT_EQ(fleet.hosts.size(), 2u);
}

TEST(BadDays, OneHostThatIsAskedTwiceIsSaid) {
  const Fleet fleet = fleet_of(
      {{"a:7171", snapshot("node", "1", kNow)}, {"b:7171", snapshot("node", "1", kNow)}}, kNow);
  EXPECT_EQ(problems_of(fleet), "a:7171, b:7171 are one host: it is counted 2 times\n");
}

TEST(BadDays, EveryHostThatIsAskedTwiceIsSaidAndHidesNoOther) {
  const Fleet fleet = fleet_of({{"a", snapshot("node", "1", kNow)},
                                {"b", snapshot("node", "1", kNow)},
                                {"c", snapshot("disk", "2", kNow)},
                                {"d", snapshot("disk", "2", kNow)},
                                {"e", snapshot("node", "3", kNow)}},
                               kNow);
  EXPECT_EQ(problems_of(fleet),
            "a, b are one host: it is counted 2 times\n"
            "c, d are one host: it is counted 2 times\n"
            "2 hosts call themselves node: a, e\n");
}

TEST(BadDays, ARankThatWasStartedAgainIsThereOnce) {
  ledger::Snapshot first = snapshot("a", "1", kNow), second = snapshot("b", "2", kNow);
  first.processes = {rank(0, true, 1), rank(1, false, 2)};
  second.processes = {rank(1, true, 9)};  // elsewhere
  const Fleet fleet = fleet_of({{"a", first}, {"b", second}}, kNow);
  ASSERT_EQ(fleet.jobs.size(), 1u);
  const JobRow& job = fleet.jobs[0];
  EXPECT_EQ(job.present, 2u);
  EXPECT_EQ(job.expected, 2u);
  EXPECT_EQ(job.died, 1u);
  EXPECT_EQ(job.hosts, 2u);
  ASSERT_TRUE(job.first_death);
  EXPECT_EQ(job.first_death->rank, "1");
  EXPECT_EQ(job.first_death->host, "a");
  EXPECT_NE(jobs_text(fleet, {}).find("train: first to die: rank 1 on a, holding DRAM"),
            std::string::npos)
      << jobs_text(fleet, {});
}

ledger::DeviceView device(ledger::Figure taken, ledger::Figure capacity) {
  ledger::DeviceView device;
  device.figures.space(ledger::Space::kDram).taken = taken;
  device.figures.space(ledger::Space::kDram).capacity = capacity;
  return device;
}

TEST(BadDays, ADeviceOfWhichNobodyTellsIsInNoSumAndSaid) {
  ledger::Snapshot one = snapshot("a", "1", kNow);
  one.devices = {device(30, 100), device(0, 100), device(std::nullopt, std::nullopt)};
  one.devices[0].processes = one.devices[2].processes = 1;  // who had the second one open died
  const Fleet fleet = fleet_of({{"a", one}}, kNow);
  const FleetTotals totals = totals_of(fleet);
  EXPECT_EQ(totals.devices, 3u);
  EXPECT_EQ(totals.in_use, 2u);
  EXPECT_EQ(totals.untold, 1u);
  EXPECT_EQ(totals.dram, 30u);
  EXPECT_EQ(totals.dram_capacity, 200u);
  const std::string text = fleet_text(fleet, 20, {});
  EXPECT_NE(text.find("1 host, 3 devices, 2 in use: DRAM 30 B of 200 B"), std::string::npos)
      << text;
  EXPECT_NE(text.find("Partial: 1 device in no sum: a process has it open that is not recorded"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1 device untold"), std::string::npos) << text;
}

TEST(BadDays, NobodyAnswersIsNoZero) {
  const Fleet fleet = fleet_of({{"a", Error{ErrorCode::kSystem, "Connection refused"}}}, kNow);
  EXPECT_TRUE(fleet.is_partial());
  EXPECT_FALSE(totals_of(fleet).dram);
  EXPECT_NE(fleet_text(fleet, 20, {}).find("silent: Connection refused"), std::string::npos);
}

}  // namespace
}  // namespace ttmem::fleet
