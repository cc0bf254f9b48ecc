// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The rules by which the runtime places programs in its kernel-config rings, over the state that a
// segment holds. Pure: no clock, no lock, no memory of its own.
//
// A ring is a queue of at most 7 entries in a table of 8; `alloc_index` is filled next and its
// address is the cursor, `free_index` is the oldest one in use. "Free" is bookkeeping: bytes stay
// until something is written over them.
#pragma once

#include <cstdint>

#include "segment/format.hpp"

namespace ttmem::segment {

// Where one launch would go, and the completion count it has to wait for.
struct RingPlan {
  std::uint32_t address[kMaxRings];  // 0 where it needs no bytes
  std::uint32_t bytes[kMaxRings];
  std::uint32_t count;
  std::uint32_t wait_for;
  bool waits;
};

// Where the next slice goes: to `address` if it has at most `bytes`, else to the ring's base.
struct NextPlace {
  std::uint32_t address;
  std::uint32_t bytes;
};
// Of any ring, also one that was read from a stranger's file.
NextPlace next_place(const Ring& ring);

class RingRules {
 public:
  static constexpr std::uint64_t kEverybody = ~0ull;  // "workload" of a trace

  explicit RingRules(RingManager& manager) : manager_(manager) {}

  // Plans a launch that needs bytes[i] in ring i. Changes nothing.
  RingPlan reserve(const std::uint32_t* bytes, std::uint32_t count) const;
  // Entries whose completion count is at most `sync` are free.
  void free(std::uint32_t sync);
  // Takes what was planned, until completion count `sync`.
  void take(const RingPlan& plan, std::uint32_t sync, std::uint64_t workload);
  // One entry over everything, cursor at the end.
  void fill(std::uint32_t sync);
  void reset();

  // One ring of a launch that the runtime told: plans `bytes`, frees up to `*freed` unless it is
  // null, takes what was planned until `sync`. The slice's address. Rings do not matter to each
  // other.
  static std::uint32_t launched(Ring& ring, std::uint32_t bytes, const std::uint32_t* freed,
                                std::uint32_t sync, std::uint64_t workload);
  static void free(Ring& ring, std::uint32_t sync);

  // All of one launch that is replayed: plan, free what it waits for (everything, if its binaries
  // are in flight), take it for `workers` more completions. Returns the plan.
  RingPlan launch(const std::uint32_t* bytes, std::uint32_t count, std::uint32_t workers,
                  bool first, std::uint64_t workload);

 private:
  static void take(Ring& ring, const RingEntry& entry);

  RingManager& manager_;
};

}  // namespace ttmem::segment
