// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <gtest/gtest.h>

#include "ledger/assemble.hpp"

namespace ttmem::ledger {
namespace {

ProcessDeviceView on(std::uint32_t id, std::uint64_t unique_id, std::uint64_t bytes) {
  ProcessDeviceView view;
  view.id = id;
  view.unique_id = unique_id;
  view.open = true;
  view.figures.space(Space::kDram).taken = bytes;
  view.figures.space(Space::kDram).capacity = 1'000'000;
  return view;
}

ProcessView process(std::int32_t pid, std::vector<ProcessDeviceView> devices) {
  ProcessView view;
  view.pid = pid;
  view.start = 100;
  view.alive = true;
  view.segment = "ttmem-x";
  view.sources = {Source::kInjector};
  view.devices = std::move(devices);
  return view;
}

DeviceView chip(std::uint32_t id, std::uint64_t unique_id) {
  DeviceView view;
  view.id = id;
  view.unique_id = unique_id;
  view.arch = Arch::kWormholeB0;
  view.grid_x = 8;
  return view;
}

Snapshot mine() {
  Snapshot snapshot;
  snapshot.boot_id = "boot";
  snapshot.devices = {chip(0, 0xA)};
  snapshot.processes = {process(10, {on(0, 0xA, 1000)})};
  return snapshot;
}

// The same chip has another number there, and there is a second one.
Snapshot theirs() {
  Snapshot snapshot;
  snapshot.boot_id = "boot";
  snapshot.devices = {chip(0, 0xB), chip(1, 0xA)};
  snapshot.processes = {process(5, {on(0, 0xB, 7), on(1, 0xA, 20)}),
                        process(10, {on(1, 0xA, 999)})};
  return snapshot;
}

TEST(Merge, AddsWhatOnlyTheOtherKnowsAndCountsIt) {
  Snapshot snapshot = mine();
  ASSERT_TRUE(add_processes(theirs(), snapshot));
  ASSERT_EQ(snapshot.processes.size(), 2u);
  EXPECT_EQ(snapshot.processes[0].pid, 5);
  EXPECT_EQ(snapshot.processes[0].sources.back(), Source::kDaemon);
  EXPECT_EQ(snapshot.processes[1].sources, std::vector{Source::kInjector});
  // What both know is taken from here.
  EXPECT_EQ(snapshot.processes[1].devices[0].figures.space(Space::kDram).taken, 1000u);
  ASSERT_EQ(snapshot.devices.size(), 2u);
  EXPECT_EQ(snapshot.devices[0].unique_id, 0xAu);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).taken, 1020u);
  EXPECT_EQ(snapshot.devices[0].processes, 2u);
  EXPECT_EQ(snapshot.devices[0].figures.peak_basis, PeakBasis::kObserved);
  EXPECT_EQ(snapshot.devices[1].unique_id, 0xBu);
  EXPECT_EQ(snapshot.devices[1].id, 1u);
  EXPECT_EQ(snapshot.devices[1].figures.space(Space::kDram).taken, 7u);
  EXPECT_EQ(snapshot.processes[0].devices[0].id, 1u);
  EXPECT_EQ(snapshot.processes[0].devices[1].id, 0u);
}

TEST(Merge, ASegmentIsBetterThanWhatTheSystemSays) {
  Snapshot snapshot = mine();
  ProcessView outsider = process(5, {});
  outsider.segment.clear();
  outsider.sources = {Source::kProcfs};
  snapshot.processes.insert(snapshot.processes.begin(), outsider);
  ASSERT_TRUE(add_processes(theirs(), snapshot));
  EXPECT_EQ(std::ranges::count(snapshot.processes, 5, &ProcessView::pid), 1);
  EXPECT_EQ(snapshot.processes[0].segment, "ttmem-x");
}

// Each container has a process 1, and two of them may start in one tick.
TEST(Merge, ProcessesOfTwoContainersAreTwo) {
  Snapshot other = theirs();
  ProcessView one = process(1, {on(0, 0xB, 7)}), two = process(1, {on(0, 0xB, 9)});
  one.container = "pid namespace 1";
  two.container = "pid namespace 2";
  two.segment = "ttmem-y";
  other.processes = {one, two};
  Snapshot snapshot = mine();
  ASSERT_TRUE(add_processes(other, snapshot));
  ASSERT_EQ(snapshot.processes.size(), 3u);
  EXPECT_NE(snapshot.processes[0].label(), snapshot.processes[1].label());
  ASSERT_TRUE(add_processes(other, snapshot));
  EXPECT_EQ(snapshot.processes.size(), 3u) << "told twice, known once";
}

TEST(Merge, TheDeadAreListedAndNotCounted) {
  Snapshot other = theirs();
  other.processes[0].alive = false;
  Snapshot snapshot = mine();
  ASSERT_TRUE(add_processes(other, snapshot));
  EXPECT_EQ(snapshot.processes[1].pid, 5);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).taken, 1000u);
}

// A stranger's segment that names another's process does not hide that process from the daemon's
// answer: it is the process of another user.
TEST(Merge, AProcessOfAnotherOwnerIsAnotherProcess) {
  Snapshot snapshot = mine();
  snapshot.processes[0].uid = 65534;
  ASSERT_TRUE(add_processes(theirs(), snapshot));
  EXPECT_EQ(std::ranges::count(snapshot.processes, 10, &ProcessView::pid), 2);
}

TEST(Merge, OnlyWhoWasThereKnowsWhenAProcessDied) {
  Snapshot snapshot = mine(), other = theirs();
  add_ends(other, snapshot);
  EXPECT_EQ(snapshot.processes[0].ended_at, 0u);
  snapshot.processes[0].alive = other.processes[1].alive = false;
  other.processes[1].ended_at = 77;
  EXPECT_TRUE(lacks_end(snapshot.processes[0]));
  add_ends(other, snapshot);
  EXPECT_EQ(snapshot.processes[0].ended_at, 77u);
  EXPECT_FALSE(lacks_end(snapshot.processes[0]));
  snapshot.processes[0].ended_at = 5;  // what it knows itself stays
  add_ends(other, snapshot);
  EXPECT_EQ(snapshot.processes[0].ended_at, 5u);
  snapshot = mine();
  snapshot.processes[0].alive = false;
  other.processes[1].uid = 65534;
  add_ends(other, snapshot);
  EXPECT_EQ(snapshot.processes[0].ended_at, 0u);
}

TEST(Merge, AnotherBootIsAnotherMachine) {
  Snapshot other = theirs();
  other.boot_id = "other";
  Snapshot snapshot = mine();
  EXPECT_FALSE(add_processes(other, snapshot));
  EXPECT_EQ(snapshot.processes.size(), 1u);
  EXPECT_EQ(snapshot.devices.size(), 1u);
}

}  // namespace
}  // namespace ttmem::ledger
