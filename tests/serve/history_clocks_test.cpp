// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The steady clock beside that on the wall: a jump is noted, and nothing is lost.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "serve/history/clocks.hpp"
#include "serve/history_world.hpp"

namespace ttmem::test {
namespace {

using serve::history::Clocks;

class HistoryByTwoClocks : public ::testing::Test, protected HistoryWorld {
 protected:
  void SetUp() override {
    add_device(0xA1);
    add_process(10);
    set_dram(0, 100);
    open();
  }
  // Seconds go by, whatever the clock on the wall says.
  void go_on(std::int64_t seconds) {
    for (std::int64_t i = 0; i < seconds; ++i) {
      ++clock_s;
      ++steady_s_;
      history->tick(clocks());
    }
  }
  void look() { history->record(snapshot, clocks()); }
  void start_again(const char* boot = "boot") {
    history->close(clocks());
    history.reset();
    boot_ = boot;
    open();
  }
  Clocks clocks() const { return {now(), static_cast<ledger::TimeNs>(steady_s_) * kNs, boot_}; }

  std::int64_t steady_s_ = 5000;
  std::string boot_ = "boot";
};

TEST_F(HistoryByTwoClocks, WhileTheClockIsWrongTimeGoesOnBySteadySeconds) {
  look();
  go_on(600);
  const std::int64_t right_s = clock_s;
  start_again();
  steady_s_ += 1000;      // while no daemon ran,
  clock_s = 820'454'400;  // somebody set the clock to 1 January 1996
  set_dram(0, 500);
  look();
  go_on(20);
  clock_s += 3600;  // an hour wrong again, in the other direction
  go_on(20);
  EXPECT_NE(history->take_notice().find("is not believed"), std::string::npos);
  clock_s = right_s + 1040;
  look();
  go_on(10);
  EXPECT_NE(history->take_notice().find("right again"), std::string::npos);
  EXPECT_EQ(points("dram.taken", right_s + 900, right_s + 1000, 100), (std::vector<Point>{{}}));
  EXPECT_EQ(points("dram.taken", right_s + 1010, right_s + 1040, 10),
            (std::vector<Point>{flat(500), flat(500), flat(500)}))
      << "at the very time when it was";
}

TEST_F(HistoryByTwoClocks, ALeapAheadIsNoted) {
  look();
  go_on(60);
  clock_s += 7200;
  look();
  EXPECT_NE(history->take_notice().find("went ahead by 2 h 00 m"), std::string::npos);
  EXPECT_EQ(history->status().clock_jumps, 1u);
  go_on(60);
  EXPECT_EQ(history->take_notice(), "");
  EXPECT_EQ(points("dram.taken", kStart + 10, kStart + 20, 10), (std::vector<Point>{flat(100)}));
}

TEST_F(HistoryByTwoClocks, ALeapWhileNoDaemonRanIsNoted) {
  look();
  go_on(60);
  start_again();
  steady_s_ += 100;
  clock_s += 100 + 7200;
  look();
  EXPECT_NE(history->take_notice().find("went ahead by 2 h 00 m"), std::string::npos);
}

TEST_F(HistoryByTwoClocks, TimeThatGoesByIsNoLeap) {
  look();
  go_on(60);
  start_again();
  steady_s_ += 7200;
  clock_s += 7200;
  look();
  EXPECT_EQ(history->take_notice(), "");
  start_again("another boot");
  steady_s_ = 30;
  clock_s += 7200;
  look();
  EXPECT_EQ(history->take_notice(), "");
  EXPECT_EQ(history->status().clock_jumps, 0u);
}

TEST_F(HistoryByTwoClocks, WhatTheClocksSaidIsKeptByBoot) {
  look();
  go_on(60);
  clock_s += 7200;
  look();
  start_again("another boot");
  look();
  history->close(clocks());
  history.reset();
  auto file = serve::history::Database::open(path);
  ASSERT_TRUE(file);
  std::vector<std::string> found;
  (*file)->each("SELECT boot_id, wall - time FROM clocks ORDER BY number", {},
                [&](const auto& row) { found.push_back(row.text(0) + " " + row.text(1)); });
  EXPECT_EQ(found, (std::vector<std::string>{"boot 0", "boot 0", "another boot 0"}));
}

}  // namespace
}  // namespace ttmem::test
