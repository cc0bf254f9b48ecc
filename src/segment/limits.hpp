// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Every limit of a segment, in one place. Writers stay below them and count what did not fit;
// readers refuse what exceeds them. Each limit of a reader is far above what any real process
// needs, and low enough that a file made to hurt costs a reader no more than a real one.
#pragma once

#include <cstdint>

namespace ttmem::segment {

inline constexpr std::uint32_t kMaxDevices = 256;
inline constexpr std::uint32_t kMaxDeviceSets = 4096;
inline constexpr std::uint32_t kMaxAllocators = 1024;
inline constexpr std::uint32_t kMaxRingManagers = 64;
inline constexpr std::uint32_t kMaxRings = 5;     // one a programmable core type
inline constexpr std::uint32_t kRingEntries = 8;  // as in the runtime; at most 7 are in use
inline constexpr std::uint32_t kRingSlices = 64;  // in one ring, of the workloads launched last
// Failures that are kept: the first ones, which often cause the others, and the last ones.
inline constexpr std::uint32_t kFirstFailures = 4;
inline constexpr std::uint32_t kLastFailures = 4;
inline constexpr std::uint32_t kMaxFailures = kFirstFailures + kLastFailures;
inline constexpr std::uint32_t kMaxPictureSlots = 4096;
inline constexpr std::uint32_t kMaxPeaks = 64;
inline constexpr std::uint32_t kPeakShares = 4096;
inline constexpr std::uint32_t kMaxListSlots = 1u << 18;  // of all lists of failures together
inline constexpr std::uint32_t kMaxWatermarks = 16;
inline constexpr std::uint32_t kMaxMessageBytes = 1024;
inline constexpr std::uint32_t kMaxBlobBytes = 64 * 1024;  // one interned string or list
inline constexpr std::uint64_t kMaxInternedBytes = 64ull << 20;
// Of these, texts may fill so much: sets of cores, addresses and lists always find room.
inline constexpr std::uint64_t kMaxTextBytes = 48ull << 20;
// Of these, origins: stacks, then the innermost lines alone, then nothing new.
inline constexpr std::uint64_t kMaxStackBytes = 7ull << 20;
inline constexpr std::uint64_t kMaxOriginBytes = 8ull << 20;
// Records in the event ring, unless more are asked for (TTMEM_EVENTS): a power of two.
inline constexpr std::uint32_t kEventCapacity = 8192;
inline constexpr std::uint32_t kMaxEventCapacity = 1u << 20;
inline constexpr std::uint64_t kMaxTableSlots = 1ull << 28;
inline constexpr std::uint64_t kMaxBlockBytes = (1ull << 44) - 1;

// Growth of the file, and the room it leaves to others (facts: a small shared /dev/shm).
inline constexpr std::uint64_t kGrowthBytes = 256 * 1024;
// A quarter of the file system, but at least and at most so much.
inline constexpr std::uint64_t kKeepFreeBytes = 16ull << 20;
inline constexpr std::uint64_t kKeepFreeMostBytes = 1ull << 30;
constexpr std::uint64_t room_to_leave(std::uint64_t total_bytes) {
  const std::uint64_t quarter = total_bytes / 4;
  if (quarter < kKeepFreeBytes) return kKeepFreeBytes;
  return quarter < kKeepFreeMostBytes ? quarter : kKeepFreeMostBytes;
}

// What a reader keeps of the dead, and how long.
inline constexpr std::uint64_t kKeepDeadSeconds = 24 * 3600;
inline constexpr std::uint32_t kKeepDeadSegments = 32;
inline constexpr std::uint64_t kKeepClosedSeconds = 60;

// How hard a reader tries, and what it believes.
inline constexpr std::uint32_t kSettleTries = 64;  // reads of one record that changes
inline constexpr std::uint32_t kStateTries = 8;    // passes over a table whose ring was overrun
inline constexpr std::uint32_t kEventMargin = 2;   // records ahead of the head: being written
// A writer holds one lock and so writes one slot at a time: many that never settle are a trick.
inline constexpr std::uint32_t kMaxUnsettled = 8;
// Events of one look, however large the ring is.
inline constexpr std::uint32_t kMaxEventsAtOnce = 1u << 16;
inline constexpr std::uint64_t kMaxFileBytes = 1ull << 40;    // no section ends beyond it
inline constexpr std::uint64_t kUnbackedBytes = 64ull << 10;  // claimed beyond the blocks on disk
// A later minor version may append to its records, up to this many times as much as there is now.
inline constexpr std::uint32_t kMaxEntryGrowth = 4;
// Cores of one device, and of one set; and each of their two coordinates. The largest chips have
// about 200 cores, on a grid of 17 by 12.
inline constexpr std::uint32_t kMaxCores = 1024;
inline constexpr std::uint32_t kMaxCoordinate = 64;

}  // namespace ttmem::segment
