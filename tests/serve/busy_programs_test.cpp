// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gtest/gtest.h>

#include "serve/history/busy_minutes.hpp"
#include "serve/history_world.hpp"
#include "support/owners.hpp"

namespace ttmem::serve::history {
namespace {

using test::HistoryWorld;
using test::kNs;
using test::kStart;

ledger::ProgramView program(const std::string& name, std::uint64_t launches) {
  ledger::ProgramView view;
  view.process = test::owner(4711);
  view.name = name;
  view.devices = {0};
  view.launches.emplace();
  const auto second = [](std::int64_t s) { return static_cast<std::uint64_t>(kStart + s) * kNs; };
  view.launches->intervals = {{second(-1), 1000, 0, 0},
                              {second(0), launches, 3, 0},
                              {second(59), 1, 0, 0},
                              {second(60), 500, 0, 0}};
  return view;
}

class BusyPrograms : public HistoryWorld, public ::testing::Test {
 protected:
  BusyPrograms() {
    add_device(0x77);
    add_process(4711);
    open();
    record();
  }
  std::vector<BusyProgram> minute(std::int64_t at_s, const std::vector<ledger::ProgramView>& all) {
    snapshot.time = static_cast<std::uint64_t>(kStart + at_s) * kNs;
    return minutes.take(snapshot, [&] {
      ++asked;
      return all;
    });
  }
  BusyMinutes minutes;
  int asked = 0;
};

TEST_F(BusyPrograms, AreThoseOfAMinuteThatIsOver) {
  std::vector<ledger::ProgramView> all;
  for (std::uint64_t i = 1; i <= 10; ++i) all.push_back(program("op" + std::to_string(i), i));
  EXPECT_TRUE(minute(5, all).empty());
  EXPECT_TRUE(minute(30, all).empty());
  EXPECT_EQ(asked, 0) << "within a minute nobody is asked";
  const auto found = minute(61, all);
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(found.size(), kBusyOfDevice);
  EXPECT_EQ(found[0].name, "op10");
  EXPECT_EQ(found[0].launches, 11u);
  EXPECT_EQ(found[0].replays, 3u);
  EXPECT_EQ(found[0].minute_s, kStart);
  EXPECT_EQ(found[0].unique_id, 0x77u);
  EXPECT_EQ(found.back().name, "op3");
}

TEST_F(BusyPrograms, OfOneNameCountAsOne) {
  minute(5, {});
  const auto found = minute(60, {program("add", 10), program("add", 20)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].launches, 32u);
}

TEST_F(BusyPrograms, AreKeptAcrossARestart) {
  minute(5, {});
  history->record(minute(60, {program("matmul", 100), program("add", 7)}));
  pass(10);
  restart();
  const BusyQuery question{.from = 0, .to = ~0ull, .device = {{{}, 0x77}}};
  const auto found = history->busy_programs(question);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].name, "matmul");
  EXPECT_EQ((*found)[0].launches, 101u);
  EXPECT_TRUE(history->busy_programs({.from = 0, .to = ~0ull, .device = {{{}, 0x78}}})->empty());
  record();  // a snapshot, whose ids are understood from now on
  EXPECT_EQ(history->busy_programs({.from = 0, .to = ~0ull, .device = {{0, {}}}})->size(), 2u);
  EXPECT_FALSE(history->busy_programs({.from = 0, .to = ~0ull, .device = {{1, {}}}}));
  EXPECT_NE(busy_json(*found).find("\"name\":\"matmul\",\"pid\":4711"), std::string::npos);
}

TEST_F(BusyPrograms, WrongQuestionsAreAnsweredWithWhatToDo) {
  EXPECT_FALSE(parse_busy_query({{"device", "first"}}, kNs));
  EXPECT_FALSE(parse_busy_query({{"metric", "dram.taken"}}, kNs));
  EXPECT_TRUE(parse_busy_query({{"device", "0x77"}, {"from", "-1h"}}, kNs));
}

}  // namespace
}  // namespace ttmem::serve::history
