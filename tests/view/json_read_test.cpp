// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <string>

#include <gtest/gtest.h>

#include "view/json.hpp"
#include "view/seeds_snapshot.hpp"

namespace ttmem::view {
namespace {

std::string written(const ledger::Snapshot& snapshot) {
  return snapshot_json(snapshot, JsonLayout::kCompact);
}

ledger::Snapshot full_snapshot() {
  ledger::Snapshot snapshot = test::seeds_snapshot();
  ledger::ProcessView& process = snapshot.processes.front();
  process.tracking.exact = false;
  process.tracking.difference_bytes = -4096;
  process.tracking.hooks_missing = {"allocate_buffer"};
  process.tracking.anomalies = {0, 3, 0, 7};
  process.tracking.dangling = 5;
  process.tracking.upstream_difference_bytes = -12;
  process.sources.push_back(ledger::Source::kUpstream);
  process.name = "\"<b>\\ \xE2\x80\xAE";
  ledger::FailureView failure;
  failure.number = 2;
  failure.kind = "out_of_memory";
  failure.time = 17;
  failure.message = "no room";
  failure.space = ledger::Space::kL1Small;
  failure.program = 0xABCDEF;
  failure.devices = {1, 0xFFFF'FFFF'FFFF'FFFF};
  process.failures.push_back(failure);
  ledger::DeviceView& device = snapshot.devices.front();
  device.host.emplace();
  device.host->temperature_millidegrees = -2500;
  device.figures.headroom = {-3, 5, ledger::Core{ledger::CoreType::kActiveEth, 3, 4}};
  process.meshes = {{1, 2, {0, 1}}, {2, 1, {0, 1}}};
  ledger::ProcessView dead = process;
  dead.pid = 99;
  dead.alive = false;
  dead.ended = ledger::Ended::kExec;
  dead.ended_at = 23;
  dead.devices.front().figures.basis = ledger::Basis::kRequested;
  dead.devices.front().figures.kernels.dispatches.reset();
  snapshot.processes.push_back(dead);
  snapshot.unreadable = {"a: b"};
  snapshot.left_behind = {"c"};
  return snapshot;
}

TEST(JsonRead, WrittenAgainItIsTheSame) {
  for (const ledger::Snapshot& snapshot :
       {test::seeds_snapshot(), full_snapshot(), ledger::Snapshot{}}) {
    const std::string text = written(snapshot);
    const auto back = read_snapshot(text);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(written(*back), text);
  }
}

TEST(JsonRead, WhatIsNoSnapshotIsRefused) {
  for (const char* text :
       {"", "null", "[]", "{}", "7", "{\"schema\":1}", "{\"schema\":1,\"document\":\"cores\"}",
        "{\"schema\":2,\"document\":\"snapshot\"}", "{\"schema\":1,\"document\":\"snapshot\"",
        "{\"schema\":1,\"document\":\"snapshot\"} x"}) {
    EXPECT_FALSE(read_snapshot(text).has_value()) << text;
  }
  EXPECT_FALSE(read_snapshot(std::string(kMostSnapshotBytes + 1, ' ')).has_value());
}

TEST(JsonRead, WrongTypesAreNotKnown) {
  const std::string filler(4096, 'x');
  const auto read = read_snapshot(
      "{\"schema\":1,\"document\":\"snapshot\",\"host\":7,\"time_ns\":-1,\"boot_id\":\"" + filler +
      "\",\"devices\":[{\"id\":4294967296,\"unique_id\":\"0xzz\",\"arch\":\"none\",\"dram\":[1],"
      "\"l1\":{\"taken\":-5,\"peak\":1.5,\"count\":\"3\"},\"rings\":{\"a\":1},\"headroom\":7}],"
      "\"processes\":[{\"pid\":99999999999,\"sources\":[\"nobody\",3],\"devices\":null,"
      "\"tracking\":[]}],\"unreadable\":\"no\"}");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->host, "");
  EXPECT_EQ(read->time, 0u);
  ASSERT_EQ(read->devices.size(), 1u);
  const ledger::DeviceView& device = read->devices[0];
  EXPECT_EQ(device.id, 0u);
  EXPECT_EQ(device.unique_id, 0u);
  EXPECT_EQ(device.arch, ledger::Arch::kUnknown);
  EXPECT_FALSE(device.figures.space(ledger::Space::kL1).taken.has_value());
  EXPECT_FALSE(device.figures.space(ledger::Space::kL1).peak.has_value());
  EXPECT_FALSE(device.figures.space(ledger::Space::kL1).count.has_value());
  ASSERT_EQ(read->processes.size(), 1u);
  EXPECT_EQ(read->processes[0].pid, 0);
  EXPECT_TRUE(read->processes[0].sources.empty());
}

// A short text must not become a lot of memory.
TEST(JsonRead, ManyEmptyViewsAreRefused) {
  std::string devices;
  for (int i = 0; i < 10'000; ++i) devices += i == 0 ? "{}" : ",{}";
  EXPECT_FALSE(
      read_snapshot("{\"schema\":1,\"document\":\"snapshot\",\"devices\":[" + devices + "]}")
          .has_value());
  EXPECT_FALSE(
      read_snapshot("{\"schema\":1,\"document\":\"snapshot\",\"processes\":[{\"devices\":[" +
                    devices + "]}]}")
          .has_value());
  EXPECT_FALSE(read_snapshot(std::string(1'000'000, '[')).has_value());
}

}  // namespace
}  // namespace ttmem::view
