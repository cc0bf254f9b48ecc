// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gtest/gtest.h>

#include "serve/history_world.hpp"

namespace ttmem::test {
namespace {

class HistoryTest : public ::testing::Test, protected HistoryWorld {
 protected:
  void SetUp() override {
    add_device(0xA1);
    add_process(10);
    set_dram(0, 100);
    open();
    record();
  }
};

TEST_F(HistoryTest, TellsWhatHeldInEachSecond) {
  pass(2);
  set_dram(0, 300);
  record();  // at second 2
  pass(2);
  EXPECT_EQ(points("dram.taken", kStart, kStart + 4, 1),
            (std::vector<Point>{flat(100), flat(100), {100, 300, 300}, flat(300)}));
}

TEST_F(HistoryTest, NothingIsKnownBeforeTheFirstLookAndAfterNow) {
  const auto found = points("dram.taken", kStart - 2, kStart + 3, 1);
  EXPECT_EQ(found, (std::vector<Point>{{}, {}, flat(100), {}, {}}));
}

TEST_F(HistoryTest, UnknownIsNotZero) {
  EXPECT_TRUE(answer(ask("headroom.min", kStart, kStart + 1, 1)).series.empty());
  snapshot.devices[0].figures.headroom.min = -64;
  record();
  EXPECT_EQ(points("headroom.min", kStart, kStart + 1, 1), (std::vector<Point>{flat(-64)}));
}

TEST_F(HistoryTest, AStepIsPutTogetherFromItsSeconds) {
  for (const std::uint64_t value : {200, 50, 400, 70}) {
    pass(1);
    set_dram(0, value);
    record();
  }
  pass(6);  // second 10
  EXPECT_EQ(points("dram.taken", kStart, kStart + 10, 5),
            (std::vector<Point>{{50, 400, 70}, flat(70)}));
  EXPECT_EQ(points("dram.taken", kStart, kStart + 10, 10), (std::vector<Point>{{50, 400, 70}}));
}

// The points of a finer answer as one.
Point joined(const std::vector<Point>& points) {
  Point all = points.front();
  for (const Point& each : points) {
    all.min = std::min(*all.min, *each.min);
    all.max = std::max(*all.max, *each.max);
    all.last = each.last;
  }
  return all;
}

TEST_F(HistoryTest, EveryTierSaysTheSameAboutAStep) {
  for (int i = 0; i < 60; ++i) {
    pass(7);
    set_dram(0, 1000 + static_cast<std::uint64_t>(i * 37 % 60));
    record();
    pass(3);
  }
  for (const std::int64_t from : {kStart, kStart + 300}) {
    const Point by_five_minutes = points("dram.taken", from, from + 300, 300).front();
    EXPECT_EQ(joined(points("dram.taken", from, from + 300, 1)), by_five_minutes);
    EXPECT_EQ(joined(points("dram.taken", from, from + 300, 5)), by_five_minutes);
    EXPECT_EQ(joined(points("dram.taken", from, from + 300, 10)), by_five_minutes);
    EXPECT_EQ(joined(points("dram.taken", from, from + 300, 60)), by_five_minutes);
  }
}

TEST_F(HistoryTest, StepsAreAlignedAndWidened) {
  pass(100);
  const Answer found = answer(ask("dram.taken", kStart + 3, kStart + 17, 10));
  EXPECT_EQ(found.from_s, kStart);
  EXPECT_EQ(found.to_s, kStart + 20);
  EXPECT_EQ(found.step_s, 10);
  EXPECT_EQ(found.series[0].points.size(), 2u);
}

TEST_F(HistoryTest, WhatIsOlderIsCoarser) {
  pass(10);
  set_dram(0, 200);
  record();
  pass(2 * 3600);
  EXPECT_EQ(answer(ask("dram.taken", clock_s - 3000, clock_s, 1)).step_s, 1);
  const Answer older = answer(ask("dram.taken", kStart, kStart + 30, 1));
  EXPECT_EQ(older.step_s, 10);
  EXPECT_EQ(older.series[0].points, (std::vector<Point>{flat(100), {100, 200, 200}, flat(200)}));
}

TEST_F(HistoryTest, APeakBetweenTwoLooksIsExact) {
  pass(1);
  set_dram(0, 100, 5000);  // up to 5,000 and back, unseen
  record();
  pass(1);
  EXPECT_EQ(points("dram.taken", kStart, kStart + 2, 1),
            (std::vector<Point>{flat(100), {100, 5000, 100}}));
  EXPECT_EQ(points("process.dram.taken", kStart + 1, kStart + 2, 1),
            (std::vector<Point>{{100, 5000, 100}}));
  EXPECT_EQ(runs().front().devices.front().peak_dram, 5000u);
}

TEST_F(HistoryTest, AProcessThatCameAndWentBetweenTwoLooksLeavesItsPeak) {
  pass(1);
  add_process(11);
  set_dram(1, 0, 9000);
  end_process(1, ledger::Ended::kClosed);
  record();
  EXPECT_EQ(points("dram.taken", kStart + 1, kStart + 2, 1),
            (std::vector<Point>{{100, 9000, 100}}));
  ASSERT_EQ(runs().size(), 2u);
  EXPECT_EQ(runs()[0].devices[0].peak_dram, 9000u);
  EXPECT_EQ(runs()[0].ended, "closed");
}

TEST_F(HistoryTest, AnOldPeakIsNotTakenForANewOne) {
  history->close(now());
  history.reset();
  clock_s += 60;
  set_dram(0, 100, 7000);  // while nobody looked: nobody knows when
  open();
  record();
  EXPECT_EQ(points("dram.taken", clock_s, clock_s + 1, 1), (std::vector<Point>{flat(100)}));
  EXPECT_EQ(runs().front().devices.front().peak_dram, 7000u);
}

TEST_F(HistoryTest, TheDeviceIsTheSumAndProcessesAreTheirOwn) {
  pass(1);
  add_process(11);
  set_dram(1, 40);
  record();
  EXPECT_EQ(points("dram.taken", kStart + 1, kStart + 2, 1), (std::vector<Point>{{100, 140, 140}}));
  EXPECT_EQ(points("processes", kStart + 1, kStart + 2, 1), (std::vector<Point>{{1, 2, 2}}));
  Query query = ask("process.dram.taken", kStart + 1, kStart + 2, 1);
  EXPECT_EQ(answer(query).series.size(), 2u);
  query.process = ledger::ProcessSelector::parse("11");
  const Answer one = answer(query);
  ASSERT_EQ(one.series.size(), 1u);
  EXPECT_EQ(one.series[0].process, "model");
  EXPECT_EQ(one.series[0].points, (std::vector<Point>{flat(40)}));
}

TEST_F(HistoryTest, AProcessIsKnownWhereAllItsDevicesAre) {
  add_device(0x20);
  ledger::ProcessDeviceView second = snapshot.processes[0].devices.front();
  second.id = 1;
  second.unique_id = 0x20;
  dram(second.figures).taken = 7;
  snapshot.processes[0].devices.push_back(second);
  set_dram(0, 5);
  record();
  pass(1);
  dram(snapshot.processes[0].devices[1].figures).taken.reset();
  record();
  pass(1);
  const auto found = points("process.dram.taken", kStart, kStart + 2, 1);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].last, 12);
  EXPECT_EQ(found[1].last, std::nullopt) << "5 would be a part of it";
}

TEST_F(HistoryTest, AProcessThatEndedIsUnknownAfterwardsAndStillAnswers) {
  pass(1);
  end_process(0, ledger::Ended::kDied);
  record();
  pass(20);  // long enough for a batch: the series is only in the file now
  const auto found = points("process.dram.taken", kStart, kStart + 3, 1);
  EXPECT_EQ(found, (std::vector<Point>{flat(100), {100, 100, {}}, {}}));
  ASSERT_EQ(runs().size(), 1u);
  EXPECT_EQ(runs()[0].ended, "died");
  EXPECT_EQ(runs()[0].ended_at, static_cast<std::uint64_t>(kStart + 1) * kNs);
}

TEST_F(HistoryTest, LaunchesBecomeARateThatFallsToZero) {
  auto& kernels = snapshot.processes[0].devices[0].figures.kernels;
  kernels.dispatches = 0;
  snapshot.devices[0].figures.kernels.dispatches = 0;
  record();
  pass(1);
  kernels.dispatches = 50;
  record();
  pass(3);
  EXPECT_EQ(points("dispatches", kStart + 1, kStart + 4, 1),
            (std::vector<Point>{flat(50), {0, 50, 0}, flat(0)}));
}

TEST_F(HistoryTest, ProcessesOfOneDeviceHaveRatesOfTheirOwn) {
  add_process(11);
  const auto launch = [this](std::uint64_t first, std::uint64_t second) {
    snapshot.processes[0].devices[0].figures.kernels.dispatches = first;
    snapshot.processes[1].devices[0].figures.kernels.dispatches = second;
    snapshot.devices[0].figures.kernels.dispatches = first + second;
    record();
  };
  launch(0, 0);
  pass(1);
  launch(50, 7);
  pass(1);
  end_process(1, ledger::Ended::kClosed);
  launch(80, 7);
  pass(20);  // long enough for a batch
  EXPECT_EQ(points("dispatches", kStart + 1, kStart + 2, 1), (std::vector<Point>{flat(57)}));
  Query query = ask("process.dispatches", kStart + 1, kStart + 4, 1);
  query.process = ledger::ProcessSelector::parse("10");
  EXPECT_EQ(answer(query).series.at(0).points,
            (std::vector<Point>{flat(50), {0, 50, 0}, {0, 30, 30}}));
  query.process = ledger::ProcessSelector::parse("11");
  EXPECT_EQ(answer(query).series.at(0).points, (std::vector<Point>{flat(7), {0, 7, {}}, {}}));
}

TEST_F(HistoryTest, TheRateOfAProcessIsUnknownWhileOneOfItsDevicesDoesNotTell) {
  record();  // no counter at all
  pass(2);
  EXPECT_TRUE(answer(ask("process.dispatches", kStart, kStart + 2, 1)).series.empty());
}

TEST_F(HistoryTest, KernelsOfAProcessAreKept) {
  auto& kernels = snapshot.processes[0].devices[0].figures.kernels;
  kernels.by_type[static_cast<std::size_t>(ledger::KernelType::kApplication)].footprint = 4096;
  kernels.by_type[static_cast<std::size_t>(ledger::KernelType::kFabric)].footprint = 512;
  pass(1);
  record();
  EXPECT_EQ(points("process.kernels.application", kStart + 1, kStart + 2, 1),
            (std::vector<Point>{flat(4096)}));
  EXPECT_EQ(points("process.kernels.fabric", kStart + 1, kStart + 2, 1),
            (std::vector<Point>{flat(512)}));
}

TEST_F(HistoryTest, SensorsAreKeptBesideTheMemory) {
  EXPECT_TRUE(answer(ask("temperature", kStart, kStart + 1, 1)).series.empty());
  ledger::HostDevice& host = snapshot.devices[0].host.emplace();
  host.temperature_millidegrees = 41'000;
  host.power_microwatts = 18'000'000;
  pass(1);
  record();
  host.temperature_millidegrees = 47'500;
  pass(1);
  record();
  EXPECT_EQ(points("temperature", kStart + 1, kStart + 3, 1),
            (std::vector<Point>{flat(41'000), {41'000, 47'500, 47'500}}));
  EXPECT_EQ(points("power", kStart + 1, kStart + 2, 1), (std::vector<Point>{flat(18'000'000)}));
  EXPECT_TRUE(answer(ask("clock", kStart, kStart + 2, 1)).series.empty()) << "it is not known";
}

TEST_F(HistoryTest, AnIdleDaemonWritesOncePerMinute) {
  pass(10);
  const std::uint64_t before = history->status().batches;
  pass(600);
  EXPECT_LE(history->status().batches - before, 10u);
  EXPECT_EQ(points("dram.taken", kStart + 300, kStart + 600, 300), (std::vector<Point>{flat(100)}));
}

TEST_F(HistoryTest, ADeviceIsFoundByIdAndByUniqueId) {
  add_device(0xB2);
  HistoryWorld::dram(snapshot.devices[1].figures).taken = 7;
  record();
  Query query = ask("dram.taken", kStart, kStart + 1, 1);
  EXPECT_EQ(answer(query).series.size(), 2u);
  query.device = {std::nullopt, 0xB2};
  EXPECT_EQ(answer(query).series.at(0).points.at(0).last, 7);
  query.device = {0, std::nullopt};
  EXPECT_EQ(answer(query).series.at(0).unique_id, 0xA1u);
  query.device = {9, std::nullopt};
  EXPECT_TRUE(answer(query).series.empty());
}

TEST_F(HistoryTest, WrongQuestionsAreAnsweredWithWhatToDo) {
  const auto error = [&](const Query& query) {
    const auto found = history->query(query, now());
    return found ? std::string() : found.error().message;
  };
  EXPECT_NE(error(ask("dram", kStart, kStart + 1, 1)).find("no metric 'dram'"), std::string::npos);
  EXPECT_NE(error(ask("dram.taken", kStart, kStart, 1)).find("before"), std::string::npos);
  EXPECT_NE(error(ask("dram.taken", kStart, kStart + 100'000, 1)).find("step of"),
            std::string::npos);
  Query of_process = ask("dram.taken", kStart, kStart + 1, 1);
  of_process.process = ledger::ProcessSelector::parse("10");
  EXPECT_NE(error(of_process).find("figure of devices"), std::string::npos);
  Query of_device = ask("process.dram.taken", kStart, kStart + 1, 1);
  of_device.device = {0, std::nullopt};
  EXPECT_NE(error(of_device).find("figure of processes"), std::string::npos);
}

TEST_F(HistoryTest, WhatWouldTakeTooLongIsRefused) {
  for (int pid = 100; pid < 400; ++pid) add_process(pid);
  for (std::size_t i = 0; i < snapshot.processes.size(); ++i) set_dram(i, 10);
  record();
  const Query query = ask("process.dram.taken", kStart - 80 * 86'400, kStart + 1, 86'400);
  const auto found = history->query(query, now());
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("name a device or a run"), std::string::npos);
}

TEST_F(HistoryTest, RunsArePagedAndFiltered) {
  for (int pid = 20; pid < 30; ++pid) add_process(pid);
  record();
  RunQuery query;
  query.limit = 4;
  const auto first = runs(query);
  ASSERT_EQ(first.size(), 4u);
  EXPECT_EQ(first[0].pid, 29);
  query.before = first.back().id;
  EXPECT_EQ(runs(query).front().pid, 25);
  pass(10);  // now from the file
  EXPECT_EQ(runs(query).front().pid, 25);
  RunQuery one;
  one.process = ledger::ProcessSelector::parse("22");
  EXPECT_EQ(runs(one).size(), 1u);
  one.process = ledger::ProcessSelector::parse("22/100");
  EXPECT_EQ(runs(one).size(), 1u);
  one.process = ledger::ProcessSelector::parse("22/101");
  EXPECT_TRUE(runs(one).empty()) << "another life of that pid";
  RunQuery on_device;
  on_device.device = {std::nullopt, 0xB2};
  EXPECT_TRUE(runs(on_device).empty());
  on_device.device = {0, std::nullopt};
  EXPECT_EQ(runs(on_device).size(), 11u) << "the same device by its id";
  on_device.device = {7, std::nullopt};
  EXPECT_FALSE(history->runs(on_device, now())) << "there is none";
  RunQuery later;
  later.from = now() + kNs;
  EXPECT_EQ(runs(later).size(), 11u);  // all are alive
}

TEST_F(HistoryTest, AProcessKnownFromOutsideIsTheSameRunWhenItTells) {
  add_process(50).segment.clear();
  record();
  const auto before = runs().front();
  snapshot.processes.back().segment = "ttmem-50";
  pass(1);
  record();
  ASSERT_EQ(runs().size(), 2u);
  EXPECT_EQ(runs().front().id, before.id);
  EXPECT_EQ(runs().front().ended, "");
}

TEST_F(HistoryTest, AClockThatStepsBackALittleStandsStill) {
  pass(100);
  clock_s -= 60;
  set_dram(0, 500);
  record();
  EXPECT_EQ(points("dram.taken", kStart + 100, kStart + 101, 1),
            (std::vector<Point>{{100, 500, 500}}));
}

TEST_F(HistoryTest, WhatWasRecordedUnderAClockThatWasAheadMovesBackWithIt) {
  pass(7200);
  set_dram(0, 500);
  record();
  pass(10);
  clock_s = kStart + 600;  // 6610 s earlier
  record();
  pass(10);
  EXPECT_EQ(points("dram.taken", kStart - 6610, kStart - 6600, 10),
            (std::vector<Point>{flat(100)}));
  EXPECT_EQ(points("dram.taken", kStart + 500, kStart + 550, 50), (std::vector<Point>{flat(100)}));
  EXPECT_EQ(points("dram.taken", kStart + 600, kStart + 610, 10), (std::vector<Point>{flat(500)}));
  EXPECT_EQ(points("dram.taken", kStart + 7000, kStart + 7200, 200), (std::vector<Point>{{}}));
  EXPECT_NE(history->take_notice().find("went back by 1 h 50 m"), std::string::npos);
  EXPECT_EQ(history->take_notice(), "");
  restart();
  EXPECT_EQ(points("dram.taken", kStart - 6600, kStart - 6500, 100),
            (std::vector<Point>{flat(100)}));
}

TEST_F(HistoryTest, AStartWithTheClockIn1996LosesNothing) {
  pass(600);
  const std::int64_t right_s = clock_s;
  restart();
  clock_s = 820'454'400;  // 1 January 1996
  history.reset();
  open();
  record();
  pass(120);
  EXPECT_NE(history->take_notice().find("is not believed"), std::string::npos);
  EXPECT_EQ(points("dram.taken", clock_s - 60, clock_s, 60), (std::vector<Point>{flat(100)}))
      << "who asks goes by the clock on the wall";
  clock_s = right_s + 1000;
  record();
  pass(10);
  EXPECT_NE(history->take_notice().find("right again"), std::string::npos);
  EXPECT_EQ(points("dram.taken", kStart + 100, kStart + 200, 100), (std::vector<Point>{flat(100)}));
  EXPECT_EQ(points("dram.taken", right_s + 1000, right_s + 1010, 10),
            (std::vector<Point>{flat(100)}));
}

TEST_F(HistoryTest, StartsWithTheClock400DaysAheadLoseNothing) {
  constexpr std::int64_t kDays400 = 400 * 86'400;
  pass(600);
  restart();
  clock_s += kDays400;
  for (int start = 0; start < 3; ++start) {
    set_dram(0, 200 + static_cast<std::uint64_t>(start));
    record();
    pass(200);
    restart();
  }
  clock_s -= kDays400;
  record();
  pass(10);
  EXPECT_EQ(points("dram.taken", kStart + 100, kStart + 200, 100), (std::vector<Point>{flat(100)}));
  EXPECT_EQ(points("dram.taken", kStart + 650, kStart + 700, 50), (std::vector<Point>{flat(200)}))
      << "at the time when it was";
  EXPECT_EQ(history->status().clock_jumps, 1u);
}

TEST_F(HistoryTest, DevicesThatWentAwayGiveTheirPlaceToNewOnes) {
  Limits limits;
  limits.series = 200;
  restart(limits);
  record();
  const ledger::Snapshot own = snapshot;
  for (std::uint64_t wave = 0; wave < 4; ++wave) {
    for (std::uint64_t i = 0; i < 60; ++i) {
      add_device(1000 + wave * 100 + i);
      dram(snapshot.devices.back().figures).taken = 1;
    }
    record();
    pass(2);
    snapshot = own;
    record();
    pass(20);
  }
  add_device(7);
  dram(snapshot.devices.back().figures).taken = 77;
  record();
  pass(10);
  const std::int64_t until_s = clock_s / 5 * 5;
  Query query = ask("dram.taken", until_s - 5, until_s, 5);
  query.device = {std::nullopt, 7};
  const Answer found = answer(query);
  ASSERT_EQ(found.series.size(), 1u);
  EXPECT_EQ(found.series.front().points, (std::vector<Point>{flat(77)}));
}

}  // namespace
}  // namespace ttmem::test
