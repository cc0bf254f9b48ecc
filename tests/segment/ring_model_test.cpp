// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A million random launches, captures, replays and resets against a queue that is written down as
// plainly as the runtime's rules are told, and against what must hold for any ring.
#include <algorithm>
#include <deque>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "segment/ring_rules.hpp"

namespace ttmem::segment {
namespace {

constexpr unsigned kSeed = 35;
constexpr std::uint32_t kModelWorkers = 64, kActiveEthernet = 1;
constexpr std::size_t kMostInUse = 7;

struct Slice {
  std::uint32_t address = 0, bytes = 0, sync = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

struct Found {
  std::uint32_t address = 0;
  std::optional<std::uint32_t> wait_for;
};

// One ring: the slices in use, oldest first, and where the next one would go.
struct PlainRing {
  std::uint32_t core_type = 0, base = 0, bytes = 0, cursor = 0;
  std::deque<Slice> slices;

  Found find(std::uint32_t wanted) const {
    if (wanted == 0) return {cursor, {}};
    if (slices.empty()) return {base, {}};
    if (core_type == kActiveEthernet) return {base, slices.front().sync};
    const std::uint32_t end = base + bytes;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const Slice& oldest = slices[i];
      std::uint32_t at = cursor;
      std::uint32_t limit = at >= oldest.address + oldest.bytes ? end : oldest.address;
      if (limit == end && at + wanted > end) {
        at = base;
        limit = oldest.address;
      }
      if (at + wanted <= limit) {
        const bool full = slices.size() - i == kMostInUse;
        return {at, full ? std::optional(oldest.sync) : std::nullopt};
      }
      if (i + 1 == slices.size()) break;
      const std::uint32_t next = slices[i + 1].address;
      if (at + wanted <= (at >= next ? end : next)) return {at, oldest.sync};
    }
    return {base, slices.back().sync};
  }
  void free(std::uint32_t sync) {
    while (!slices.empty() && slices.front().sync <= sync) slices.pop_front();
  }
  void take(std::uint32_t address, std::uint32_t wanted, std::uint32_t sync) {
    if (wanted == 0) return;
    slices.push_back({address, wanted, sync});
    cursor = address + wanted;
  }
  void fill(std::uint32_t sync) {
    slices = {{base, bytes, sync}};
    cursor = base + bytes;
  }
  void reset() {
    slices.clear();
    cursor = base;
  }
};

class RingModel {
 public:
  RingModel() {
    rings_ = {
        {0, 35008, 70656, 35008, {}}, {1, 258336, 640, 258336, {}}, {2, 32240, 25600, 32240, {}}};
    manager_.ring_count = static_cast<std::uint32_t>(rings_.size());
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      manager_.rings[i].core_type = rings_[i].core_type;
      manager_.rings[i].base = rings_[i].base;
      manager_.rings[i].bytes = rings_[i].bytes;
    }
    rules_.reset();
  }

  // "" or what is wrong.
  std::string step() {
    switch (pick(100)) {
      case 0:
        return reset(), compare();
      case 1:
        return fill(), compare();  // a replay
      case 2:
        return capture();
      default:
        return launch();
    }
  }

 private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  void reset() {
    rules_.reset();
    for (PlainRing& ring : rings_) ring.reset();
  }
  void fill() {
    const auto sync = static_cast<std::uint32_t>(manager_.expected);
    rules_.fill(sync);
    for (PlainRing& ring : rings_) ring.fill(sync);
  }
  std::string capture() {
    const RingManager saved = manager_;
    const std::vector<PlainRing> before = rings_;
    fill();
    const std::string wrong = compare();
    manager_ = saved;
    rings_ = before;
    return wrong.empty() ? compare() : wrong;
  }

  std::string launch() {
    std::vector<std::uint32_t> wanted;
    for (const PlainRing& ring : rings_) {
      const std::uint32_t most = pick(20) == 0 ? ring.bytes : ring.bytes / (1 + pick(12));
      wanted.push_back(pick(3) == 0 ? 0 : 1 + pick(most));
    }
    const bool first = pick(10) == 0;
    const auto expected = static_cast<std::uint32_t>(manager_.expected);
    std::vector<Found> found;
    std::optional<std::uint32_t> wait_for;
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      found.push_back(rings_[i].find(wanted[i]));
      if (found[i].wait_for) wait_for = std::max(wait_for.value_or(0), *found[i].wait_for);
    }
    const RingPlan plan =
        rules_.launch(wanted.data(), manager_.ring_count, kModelWorkers, first, 1);
    if (plan.waits != wait_for.has_value()) return "only one of the two waits";
    if (plan.waits && plan.wait_for != *wait_for) return "they wait for different counts";
    if (first) wait_for = expected;
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      if (wanted[i] != 0 && plan.address[i] != found[i].address) return "a slice is elsewhere";
      if (wait_for) rings_[i].free(*wait_for);
      rings_[i].take(found[i].address, wanted[i], expected + kModelWorkers);
    }
    return compare();
  }

  std::string compare() const {
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      const std::vector<Slice> slices = in_use(manager_.rings[i]);
      if (!std::ranges::equal(slices, rings_[i].slices)) return "other slices are in use";
      if (slices.size() > kMostInUse) return "too many slices";
      if (const std::string wrong = check_places(rings_[i], slices); !wrong.empty()) return wrong;
    }
    return "";
  }

  static std::vector<Slice> in_use(const Ring& ring) {
    std::vector<Slice> slices;
    for (std::uint32_t i = ring.free_index; i != ring.alloc_index; i = (i + 1) % kRingEntries) {
      slices.push_back({ring.entries[i].address, ring.entries[i].bytes, ring.entries[i].sync});
    }
    return slices;
  }

  static std::string check_places(const PlainRing& ring, std::vector<Slice> slices) {
    std::ranges::sort(slices, {}, &Slice::address);
    std::uint32_t free_from = ring.base;
    for (const Slice& slice : slices) {
      if (slice.address < free_from) return "two slices in use share bytes";
      free_from = slice.address + slice.bytes;
    }
    return free_from <= ring.base + ring.bytes ? "" : "a slice is outside its ring";
  }

  std::mt19937 random_{kSeed};
  RingManager manager_ = {};
  RingRules rules_{manager_};
  std::vector<PlainRing> rings_;
};

void compare_with_a_plain_queue(int steps) {
  std::cout << "seed " << kSeed << "\n";
  RingModel model;
  for (int step = 0; step < steps; ++step) {
    ASSERT_EQ(model.step(), "") << "seed " << kSeed << ", step " << step;
  }
}

TEST(RingModel, EqualsAPlainQueue) { compare_with_a_plain_queue(1'000'000); }
TEST(LongRingModel, EqualsAPlainQueue) { compare_with_a_plain_queue(10'000'000); }

}  // namespace
}  // namespace ttmem::segment
