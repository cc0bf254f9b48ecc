// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What was held at the peak, by origin: put together as a reader does, against a plain copy that a
// test makes at every new peak.
#include "client/peaks.hpp"

#include <map>
#include <random>
#include <thread>

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

using Held = std::map<std::uint32_t, std::uint64_t>;  // by origin, bytes on one device

class PeaksTest : public Recording {
 protected:
  PeaksTest() : Recording(2) {}

  void hold(ttmem_allocator_t on, std::uint64_t id, std::uint64_t block, ttmem_origin_t origin,
            std::uint8_t space = TTMEM_SPACE_DRAM) {
    ttmem_buffer made = buffer(id, block, space);
    made.allocator = on;
    recorder->buffers.allocated(made, origin);
  }
  static bool has(const segment::Peak& peak, ttmem_device_t device) {
    return (peak.devices[device / 64] >> (device % 64) & 1) != 0;
  }
  // The record of a device, and what it says was held; `known` is false if it says nothing.
  Held at_peak(std::size_t chip, std::uint32_t space, bool* known = nullptr) {
    const TinyReader now = reader();
    const auto all =
        std::make_unique<segment::Peaks>(now.record<segment::Peaks>(segment::kPeaksOffset, 0));
    Held held;
    for (std::uint32_t i = 0; i < all->count; ++i) {
      const segment::Peak& peak = all->peaks[i];
      if (!has(peak, chips[chip])) continue;
      const segment::PeakSpace& at = peak.spaces[space];
      if (known != nullptr) *known = at.ticks != 0;
      EXPECT_EQ(peak.version % 2, 0u);
      for (const Payload& payload : now.live(Kind::kBuffer)) {
        if (Meta::space(payload.meta) != space || payload.time > at.ticks) continue;
        if (!is_on(payload.set, chips[chip])) continue;
        held[payload.origin] += Meta::block(payload.meta) * 12;
      }
      for (const segment::PeakShare& share : all->shares) {
        if (share.ticks == 0 || share.ticks != at.ticks) continue;
        if (share.peak == i && share.space == space) held[share.origin] += share.bytes;
      }
    }
    return held;
  }
  bool is_on(std::uint16_t on, ttmem_device_t device) {
    return recorder->devices.list(on)->contains(device);
  }
};

TEST_F(PeaksTest, WhatWasReleasedSinceIsStillTold) {
  hold(allocator, 1, 100, 7);
  hold(allocator, 2, 50, 8);
  release(1);
  hold(allocator, 3, 20, 9);
  EXPECT_EQ(at_peak(0, TTMEM_SPACE_DRAM), (Held{{7, 1200}, {8, 600}}));
  release(2);
  release(3);
  EXPECT_EQ(at_peak(1, TTMEM_SPACE_DRAM), (Held{{7, 1200}, {8, 600}}));
  EXPECT_EQ(peak(TTMEM_SPACE_DRAM), 1800u);
}

TEST_F(PeaksTest, ANewPeakForgetsTheOldOne) {
  hold(allocator, 1, 100, 7);
  release(1);
  hold(allocator, 2, 101, 8);
  EXPECT_EQ(at_peak(0, TTMEM_SPACE_DRAM), (Held{{8, 1212}}));
}

TEST_F(PeaksTest, FlagsThatComeLaterChangeNothing) {
  hold(allocator, 1, 100, 7);
  hold(allocator, 2, 100, 8);
  release(2);
  recorder->buffers.flagged(allocator, TTMEM_SPACE_DRAM, 1, TTMEM_FLAG_PROGRAM_CACHE);
  EXPECT_EQ(at_peak(0, TTMEM_SPACE_DRAM), (Held{{7, 1200}, {8, 1200}}));
  release(1);
  EXPECT_EQ(at_peak(0, TTMEM_SPACE_DRAM), (Held{{7, 1200}, {8, 1200}}));
}

TEST_F(PeaksTest, ClosingTheDeviceKeepsThePeak) {
  for (std::uint64_t id = 0; id < 100; ++id) hold(allocator, id, 10, 1 + id % 3);
  recorder->allocators.closed(allocator);
  EXPECT_EQ(at_peak(0, TTMEM_SPACE_DRAM), (Held{{1, 4080}, {2, 3960}, {3, 3960}}));
}

TEST_F(PeaksTest, DevicesThatArePartedAreKnownFromTheirNextPeakOn) {
  hold(allocator, 1, 100, 7);
  const ttmem_allocator_t second = open_allocator(set_of({chips[1]}));
  bool known = true;
  at_peak(1, TTMEM_SPACE_DRAM, &known);
  EXPECT_FALSE(known);
  hold(second, 1, 10, 8);
  EXPECT_EQ(at_peak(1, TTMEM_SPACE_DRAM), (Held{{7, 1200}, {8, 120}}));
  hold(allocator, 2, 30, 9);
  EXPECT_EQ(at_peak(0, TTMEM_SPACE_DRAM), (Held{{7, 1200}, {9, 360}}));
  EXPECT_EQ(at_peak(1, TTMEM_SPACE_DRAM), (Held{{7, 1200}, {8, 120}, {9, 360}}));
}

TEST_F(PeaksTest, EqualsACopyMadeAtEveryNewPeak) {
  const ttmem_allocator_t second = open_allocator(set_of({chips[1]}));
  std::mt19937_64 random(5);
  struct Live {
    ttmem_allocator_t on;
    std::uint64_t id, bytes;
    std::uint32_t origin;
  };
  std::vector<Live> live;
  Held copies[2];
  std::uint64_t highest[2] = {};
  for (std::uint64_t step = 0; step < 3000; ++step) {
    if (live.empty() || random() % 100 < 52) {
      const Live made = {random() % 3 == 0 ? second : allocator, step, 32 * (1 + random() % 50),
                         static_cast<std::uint32_t>(1 + random() % 40)};
      hold(made.on, made.id, made.bytes, made.origin);
      live.push_back(made);
    } else {
      std::swap(live[random() % live.size()], live.back());
      recorder->buffers.freed(live.back().on, TTMEM_SPACE_DRAM, live.back().id);
      live.pop_back();
    }
    for (std::size_t chip = 0; chip < 2; ++chip) {
      Held held;
      std::uint64_t sum = 0;
      for (const Live& each : live) {
        if (chip == 0 && each.on == second) continue;
        held[each.origin] += each.bytes * 12;
        sum += each.bytes * 12;
      }
      if (sum > highest[chip]) {
        highest[chip] = sum;
        copies[chip] = held;
      }
    }
    if (step % 500 != 499) continue;
    EXPECT_EQ(at_peak(0, TTMEM_SPACE_DRAM), copies[0]) << step;
    EXPECT_EQ(at_peak(1, TTMEM_SPACE_DRAM), copies[1]) << step;
  }
}

TEST_F(PeaksTest, WhatFindsNoRoomIsCounted) {
  constexpr std::uint32_t kOrigins = 3 * segment::kPeakShares;
  for (std::uint32_t i = 1; i <= kOrigins; ++i) hold(allocator, i, 32, i);
  for (std::uint32_t i = 1; i <= kOrigins; ++i) release(i);
  std::uint64_t told = 0;
  for (const auto& [origin, bytes] : at_peak(0, TTMEM_SPACE_DRAM)) told += bytes;
  const auto all =
      std::make_unique<segment::Peaks>(reader().record<segment::Peaks>(segment::kPeaksOffset, 0));
  EXPECT_GT(told, 0u);
  EXPECT_EQ(told + all->peaks[0].spaces[0].lost, std::uint64_t{kOrigins} * 32 * 12);
}

TEST_F(PeaksTest, ThreadsAgree) {
  std::vector<std::thread> threads;
  for (std::uint32_t t = 1; t <= 4; ++t) {
    threads.emplace_back([this, t] {
      for (std::uint64_t i = 0; i < 5000; ++i) {
        const std::uint64_t id = t * 1'000'000 + i;
        hold(allocator, id, 32, t);
        if (i % 7 != 0) recorder->buffers.freed(allocator, TTMEM_SPACE_DRAM, id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t told = 0;
  for (const auto& [origin, bytes] : at_peak(0, TTMEM_SPACE_DRAM)) told += bytes;
  EXPECT_EQ(told, peak(TTMEM_SPACE_DRAM));
}

}  // namespace
}  // namespace ttmem::client
