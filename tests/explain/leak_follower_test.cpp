// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/leak_follower.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace ttmem::explain {
namespace {

using ledger::EventKind;
using ledger::Space;

// A process that leaks a block of 64 in every step, as a reader sees it.
class Host {
 public:
  Host() {
    ledger::ProcessView view;
    view.pid = 4711;
    view.name = "python";
    view.key = 1;
    view.alive = true;
    snapshot.processes.push_back(view);
    snapshot.devices.emplace_back();
    process_ = std::make_shared<const ledger::ProcessName>(view);
    picture_.space = Space::kL1;
    picture_.banks = 64;
    picture_.bank = {0, 1 << 20};
    picture_.origins = {{"ttnn.add", "model.py:6 f", ""}};
  }
  void step() {
    snapshot.time += 1000;
    follower.take({event(EventKind::kStep), event(EventKind::kBufferAllocated)});
    ledger::HeldBlock block;
    top_ -= 64;
    block.range = {top_, top_ + 64};
    block.since = snapshot.time + 1;
    picture_.blocks.insert(picture_.blocks.begin(), block);
    look();
  }
  void look() {
    if (!follower.is_due(snapshot)) return;
    ++looks;
    follower.look(snapshot, [&](std::uint32_t, Space space) {
      std::vector<ledger::LiveSpace> spaces;
      if (space == Space::kL1) spaces.push_back({process_, picture_});
      return spaces;
    });
  }

  LeakFollower follower;
  ledger::Snapshot snapshot;
  int looks = 0;

 private:
  ledger::EventView event(EventKind kind) const {
    ledger::EventView view;
    view.kind = kind;
    view.process = process_;
    view.time = snapshot.time;
    return view;
  }

  ledger::Owner process_ = ledger::nobody();
  ledger::SpacePicture picture_;
  std::uint64_t top_ = 1 << 20;
};

TEST(LeakFollower, LooksOnceInAStepAndNamesTheLine) {
  Host host;
  for (int i = 0; i < 12; ++i) {
    host.step();
    host.look();
  }
  EXPECT_EQ(host.looks, 12);
  const LeakReport report = host.follower.report();
  EXPECT_EQ(report.steps_from, "marks");
  ASSERT_EQ(report.suspects.size(), 1u);
  EXPECT_EQ(report.suspects[0].origin.line, "model.py:6 f");
  EXPECT_DOUBLE_EQ(report.suspects[0].bytes_per_step, 64);
  ASSERT_EQ(report.falling.size(), 1u);
  EXPECT_DOUBLE_EQ(report.falling[0].bytes_per_step, 64);
}

TEST(LeakFollower, StepsBeforeItFollowedDoNotCount) {
  Host host;
  std::vector<ledger::EventView> past(500);
  for (ledger::EventView& event : past) {
    event.kind = EventKind::kStep;
    event.process = std::make_shared<const ledger::ProcessName>(host.snapshot.processes[0]);
    event.time = ++host.snapshot.time;
  }
  host.follower.take(past);
  host.step();
  EXPECT_EQ(host.follower.report().steps, 1u);
  EXPECT_FALSE(host.follower.report().processes.at(0).is_known);
  for (int i = 0; i < 9; ++i) host.step();
  EXPECT_EQ(host.follower.report().steps, 10u);
  EXPECT_EQ(host.follower.report().suspects.size(), 1u);
}

TEST(LeakFollower, TheDeadAreNotLookedAtAndForgotten) {
  Host host;
  for (int i = 0; i < 12; ++i) host.step();
  host.snapshot.processes[0].alive = false;
  EXPECT_FALSE(host.follower.is_due(host.snapshot));
  EXPECT_EQ(host.follower.report().suspects.size(), 1u);
  host.follower.forget_the_dead(host.snapshot);
  EXPECT_TRUE(host.follower.report().suspects.empty());
}

}  // namespace
}  // namespace ttmem::explain
