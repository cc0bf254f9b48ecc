// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/ring_rules.hpp"

namespace ttmem::segment {
namespace {

constexpr std::uint32_t kActiveEthernet = 1;  // HalProgrammableCoreType::ACTIVE_ETH

constexpr std::uint32_t following(std::uint32_t index) { return (index + 1) % kRingEntries; }

struct Spot {
  std::uint32_t address;
  std::uint32_t sync;
  bool waits;
};

// Where `bytes` fit into a ring that is in use, going over its entries from the oldest one.
[[gnu::hot]] Spot find_spot(const Ring& ring, std::uint32_t bytes) {
  const std::uint32_t end = ring.base + ring.bytes;
  for (std::uint32_t oldest = ring.free_index;; oldest = following(oldest)) {
    const RingEntry& entry = ring.entries[oldest];
    std::uint32_t cursor = ring.entries[ring.alloc_index].address;
    std::uint32_t limit = cursor >= entry.address + entry.bytes ? end : entry.address;
    if (cursor + bytes > limit && limit == end) {
      cursor = ring.base;
      limit = entry.address;
    }
    if (cursor + bytes <= limit) {
      return {cursor, entry.sync, following(ring.alloc_index) == oldest};
    }
    const std::uint32_t next = following(oldest);
    if (next == ring.alloc_index) return {ring.base, entry.sync, true};
    const std::uint32_t beyond = ring.entries[next].address;
    if (cursor + bytes <= (cursor >= beyond ? end : beyond)) return {cursor, entry.sync, true};
  }
}

[[gnu::hot]] Spot place(const Ring& ring, std::uint32_t bytes) {
  const RingEntry& oldest = ring.entries[ring.free_index];
  const bool empty = ring.free_index == ring.alloc_index;
  if (bytes == 0) return {ring.entries[ring.alloc_index].address, 0, false};
  if (ring.core_type == kActiveEthernet) return {ring.base, oldest.sync, !empty};
  if (empty) return {ring.base, 0, false};
  return find_spot(ring, bytes);
}

}  // namespace

NextPlace next_place(const Ring& told) {
  Ring ring = told;
  ring.alloc_index %= kRingEntries;
  ring.free_index %= kRingEntries;
  const std::uint32_t cursor = place(ring, 0).address;
  if (place(ring, 1).address != cursor) return {ring.base, ring.bytes};
  // A slice goes to the cursor as long as it fits there: find the largest that does.
  std::uint32_t fits = 1, too_large = ring.bytes < UINT32_MAX ? ring.bytes + 1 : ring.bytes;
  while (fits + 1 < too_large) {
    const std::uint32_t middle = fits + (too_large - fits) / 2;
    (place(ring, middle).address == cursor ? fits : too_large) = middle;
  }
  return {cursor, fits};
}

[[gnu::hot, gnu::flatten]] std::uint32_t RingRules::launched(Ring& ring, std::uint32_t bytes,
                                                             const std::uint32_t* freed,
                                                             std::uint32_t sync,
                                                             std::uint64_t workload) {
  const std::uint32_t address = place(ring, bytes).address;
  if (freed != nullptr) free(ring, *freed);
  take(ring, {address, bytes, sync, 0, workload});
  return address;
}

[[gnu::hot]] void RingRules::free(Ring& ring, std::uint32_t sync) {
  while (ring.free_index != ring.alloc_index && ring.entries[ring.free_index].sync <= sync) {
    ring.free_index = following(ring.free_index);
  }
}

[[gnu::hot]] void RingRules::take(Ring& ring, const RingEntry& entry) {
  ring.entries[ring.alloc_index] = entry;
  ring.alloc_index = following(ring.alloc_index);
  const std::uint32_t end = entry.address + entry.bytes;
  ring.entries[ring.alloc_index] = {end, 0, 0, 0, 0};
  if (entry.bytes > ring.largest_bytes) ring.largest_bytes = entry.bytes;
  if (end - ring.base > ring.high_water) ring.high_water = end - ring.base;
}

RingPlan RingRules::reserve(const std::uint32_t* bytes, std::uint32_t count) const {
  RingPlan plan = {};
  plan.count = count < manager_.ring_count ? count : manager_.ring_count;
  for (std::uint32_t i = 0; i < plan.count; ++i) {
    if (bytes[i] == 0) continue;  // most programs have kernels on one type of cores
    const Spot spot = place(manager_.rings[i], bytes[i]);
    plan.address[i] = spot.address;
    plan.bytes[i] = bytes[i];
    if (!spot.waits) continue;
    if (!plan.waits || spot.sync > plan.wait_for) plan.wait_for = spot.sync;
    plan.waits = true;
  }
  return plan;
}

void RingRules::free(std::uint32_t sync) {
  for (std::uint32_t i = 0; i < manager_.ring_count; ++i) free(manager_.rings[i], sync);
}

void RingRules::take(const RingPlan& plan, std::uint32_t sync, std::uint64_t workload) {
  ++manager_.reserves;
  for (std::uint32_t i = 0; i < plan.count; ++i) {
    if (plan.bytes[i] == 0) continue;
    take(manager_.rings[i], {plan.address[i], plan.bytes[i], sync, 0, workload});
  }
}

void RingRules::fill(std::uint32_t sync) {
  for (std::uint32_t i = 0; i < manager_.ring_count; ++i) {
    Ring& ring = manager_.rings[i];
    ring.free_index = 0;
    ring.alloc_index = 1;
    ring.entries[0] = {ring.base, ring.bytes, sync, 0, kEverybody};
    ring.entries[1] = {ring.base + ring.bytes, 0, 0, 0, 0};
  }
}

void RingRules::reset() {
  for (std::uint32_t i = 0; i < manager_.ring_count; ++i) {
    Ring& ring = manager_.rings[i];
    ring.free_index = 0;
    ring.alloc_index = 0;
    for (RingEntry& entry : ring.entries) entry = {};
    ring.entries[0].address = ring.base;
  }
}

RingPlan RingRules::launch(const std::uint32_t* bytes, std::uint32_t count, std::uint32_t workers,
                           bool first, std::uint64_t workload) {
  if (manager_.expected + workers > UINT32_MAX) {  // the device's counter would wrap
    manager_.expected = 0;
    fill(0);
  }
  const RingPlan plan = reserve(bytes, count);
  if (first) {
    free(static_cast<std::uint32_t>(manager_.expected));
  } else if (plan.waits) {
    free(plan.wait_for);
  }
  manager_.expected += workers;
  take(plan, static_cast<std::uint32_t>(manager_.expected), workload);
  return plan;
}

}  // namespace ttmem::segment
