// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A million random steps (ten million in the long test) with buffers against a map of what is live:
// after every step the sums of a device that changed hold, every so often everything does, and at
// the end all is zero.
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "ledger/check_sums.hpp"
#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

constexpr unsigned kBufferSeed = 20260822;
constexpr int kAllSumsEvery = 20000;
constexpr DeviceIndex kChips = 8;
constexpr SlotIndex kSlots = 4000;
constexpr unsigned kWorkers = 16, kDramBanks = 12;

struct Sums {
  std::uint64_t taken = 0, occupied = 0, requested = 0, count = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};
using DeviceSums = std::array<Sums, kSpaces>;

struct Live {
  BufferRecord record;
  Sums sums;
};

class BufferModel {
 public:
  BufferModel() : world_(kChips, 4, 4), random_(kBufferSeed) {
    for (const auto& devices : sets_)
      allocators_.push_back(world_.allocator(world_.set(devices), 4096));
    cores_ = {world_.cores({0, 0, 3, 0}), world_.cores({1, 1, 2, 3}), world_.cores({0, 0, 3, 3})};
  }

  // One random change; returns a device that it concerned.
  DeviceIndex step() {
    if (!live_.empty() && (live_.size() > 1500 || pick(100) < 45)) return release();
    return allocate();
  }

  void release_all() {
    while (!live_.empty()) release();
  }

  const DeviceSums& expected(DeviceIndex device) const { return sums_[device]; }

  DeviceSums found(DeviceIndex device) const {
    DeviceSums sums;
    const DeviceFigures figures = world_.ledger.figures(device, true);
    for (const Space which : kDeviceSpaces) {
      const SpaceFigures& space = figures.space(which);
      sums[static_cast<std::size_t>(which)] = {*space.taken, *space.occupied, *space.requested,
                                               *space.count};
    }
    return sums;
  }

  // The largest stretch that no buffer of one allocator touches, from a sorted list.
  std::uint64_t largest_free(std::size_t set, Space space) const {
    const auto index = static_cast<std::size_t>(space);
    const AllocatorRecord& allocator = *world_.ledger.allocator(allocators_[set]);
    const SpaceRecord& geometry = allocator.spaces[index];
    std::map<std::uint64_t, std::uint64_t> ends;
    for (const auto& [slot, one] : live_) {
      if (one.record.allocator != allocators_[set] || one.record.space != space) continue;
      if (one.record.block == 0 || one.record.flags.estimated) continue;
      std::uint64_t& end = ends[one.record.address];
      end = std::max(end, one.record.address + one.record.block);
    }
    const std::uint64_t top = geometry.base + geometry.bank_bytes;
    std::uint64_t cursor = geometry.base, largest = 0;
    for (const auto& [begin, end] : ends) {
      if (std::min(begin, top) > cursor) largest = std::max(largest, std::min(begin, top) - cursor);
      cursor = std::max(cursor, end);
    }
    return cursor < top ? std::max(largest, top - cursor) : largest;
  }

  std::string full_check() const {
    ProcessLedger late = world_.late_reader();
    for (const auto& [slot, one] : live_) late.apply(slot, one.record);
    for (DeviceIndex device = 1; device <= kChips; ++device) {
      if (found(device) != expected(device)) return "sums of a device differ";
      const DeviceFigures figures = world_.figures(device);
      if (late.figures(device) != figures) return "a late reader says something else";
      for (const Space space : kDeviceSpaces) {
        std::uint64_t smallest = ~0ull;
        for (std::size_t set = 0; set < sets_.size(); ++set) {
          if (std::count(sets_[set].begin(), sets_[set].end(), device) > 0) {
            smallest = std::min(smallest, largest_free(set, space));
          }
        }
        if (figures.space(space).largest_free != smallest) return "largest_free differs";
      }
    }
    return world_.check(false);
  }

  std::size_t size() const { return live_.size(); }
  std::size_t holdings() const { return world_.holdings(); }

 private:
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  BufferRecord random_buffer(std::size_t set) {
    static constexpr std::array kAddresses = {2000000ull, 200000ull, 0ull, 1495040ull,
                                              1073741824ull};
    BufferRecord buffer;
    buffer.id = next_id_++;
    buffer.allocator = allocators_[set];
    buffer.set = static_cast<SetIndex>(set + 1);
    buffer.space = kDeviceSpaces[pick(4)];
    buffer.block = pick(20) == 0 ? 0 : 32 * (1 + pick(64));
    buffer.requested = pick(100000);
    buffer.address = kAddresses[static_cast<std::size_t>(buffer.space)] + 32 * pick(30000);
    const bool l1 = buffer.space == Space::kL1 || buffer.space == Space::kL1Small;
    if (l1 && pick(2) == 0) buffer.cores = cores_[pick(3)];
    if (buffer.cores != 0 && pick(8) == 0) buffer.per_core = true;
    buffer.flags.kernel_binaries = buffer.space == Space::kDram && pick(10) == 0;
    buffer.flags.estimated = pick(25) == 0;
    return buffer;
  }

  Sums sums_of(const BufferRecord& buffer) const {
    if (buffer.flags.estimated) return {};
    const bool l1 = buffer.space == Space::kL1 || buffer.space == Space::kL1Small;
    const std::uint64_t banks = l1 ? kWorkers : kDramBanks;
    static constexpr std::array<std::uint64_t, 3> kCounts = {4, 6, 16};
    std::uint64_t holding = banks;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      if (buffer.cores == cores_[i]) holding = kCounts[i];
    }
    const std::uint64_t taking = buffer.per_core ? holding : banks;
    return {buffer.block * taking, buffer.block * holding, buffer.requested, 1};
  }

  void count(const Live& live, bool up) {
    const auto change = [up](std::uint64_t& sum, std::uint64_t by) { up ? sum += by : sum -= by; };
    for (const DeviceIndex device : sets_[live.record.set - 1u]) {
      Sums& sums = sums_[device][static_cast<std::size_t>(live.record.space)];
      change(sums.taken, live.sums.taken);
      change(sums.occupied, live.sums.occupied);
      change(sums.requested, live.sums.requested);
      change(sums.count, live.sums.count);
    }
  }

  DeviceIndex one_of(SetIndex set) {
    const auto& devices = sets_[set - 1u];
    return devices[pick(devices.size())];
  }

  DeviceIndex allocate() {
    const BufferRecord buffer = random_buffer(pick(sets_.size()));
    // Sometimes into a slot that is in use: what was there is replaced.
    const auto slot = static_cast<SlotIndex>(pick(kSlots));
    if (const auto old = live_.find(slot); old != live_.end()) count(old->second, false);
    const Live live{buffer, sums_of(buffer)};
    count(live, true);
    world_.ledger.apply(slot, buffer);
    live_.insert_or_assign(slot, live);
    return one_of(buffer.set);
  }

  DeviceIndex release() {
    auto found = live_.lower_bound(static_cast<SlotIndex>(pick(kSlots)));
    if (found == live_.end()) found = live_.begin();
    const SetIndex set = found->second.record.set;
    count(found->second, false);
    world_.ledger.apply(found->first, std::monostate());
    live_.erase(found);
    return one_of(set);
  }

  const std::vector<std::vector<DeviceIndex>> sets_ = {{1, 2, 3, 4, 5, 6, 7, 8}, {2, 3}, {8}};
  World world_;
  std::mt19937_64 random_;
  std::vector<AllocatorIndex> allocators_;
  std::vector<CoresId> cores_;
  std::uint64_t next_id_ = 1;
  std::map<SlotIndex, Live> live_;
  std::array<DeviceSums, kChips + 1> sums_;
};

void compare_with_a_naive_map(int steps) {
  std::cout << "seed " << kBufferSeed << "\n";
  SCOPED_TRACE(testing::Message() << "seed " << kBufferSeed);
  BufferModel model;
  for (int step = 0; step < steps; ++step) {
    const DeviceIndex device = model.step();
    ASSERT_EQ(model.found(device), model.expected(device)) << "step " << step;
    if (step % kAllSumsEvery == 0) {
      ASSERT_EQ(model.full_check(), "") << "step " << step;
    }
  }
  ASSERT_GT(model.size(), 500u);
  model.release_all();
  EXPECT_EQ(model.full_check(), "");
  EXPECT_EQ(model.holdings(), 0u);
  for (DeviceIndex device = 1; device <= kChips; ++device) {
    EXPECT_EQ(model.found(device), DeviceSums());
  }
}

TEST(BufferModel, EqualsANaiveMapAfterEveryStep) { compare_with_a_naive_map(1'000'000); }
TEST(LongBufferModel, EqualsANaiveMapAfterEveryStep) { compare_with_a_naive_map(10'000'000); }

}  // namespace
}  // namespace ttmem::ledger
