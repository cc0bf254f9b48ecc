// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The slot of the live table and the event that writes it: 64 bytes each, one payload. The rest of
// the file is in segment/format.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "segment/limits.hpp"

namespace ttmem::segment {

inline constexpr std::uint32_t kSpaces = 5;     // numbered as TT-Metal's BufferType
inline constexpr std::uint32_t kCoreTypes = 5;  // numbered as HalProgrammableCoreType
inline constexpr std::uint32_t kFigures = 8;    // the spaces, program L1, kernels, one spare
inline constexpr std::uint32_t kFigureProgramL1 = 5;
inline constexpr std::uint32_t kFigureKernels = 6;
inline constexpr std::uint32_t kAnomalies = 16;
inline constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

// ---- the slot and the event ----------------------------------------------------------------

enum class Kind : std::uint8_t {
  kNote = 0,  // in the event ring: no slot is changed. In the table: a slot never used.
  kBuffer = 1,
  kProgram = 2,
  kKernel = 3,
  kRange = 4,
  kWorkload = 5,
  kTrace = 6,
};

// The word that every slot and event starts with, bit by bit:
//   0..43 block bytes | 44..48 kind | 49 live | 50..52 space | 53..55 variant | 56..63 flags
// `variant` is the layout of a buffer, the type of a program or kernel, the part of a range.
struct Meta {
  static constexpr unsigned kKindShift = 44, kLiveShift = 49, kSpaceShift = 50, kVariantShift = 53,
                            kFlagsShift = 56;
  static constexpr std::uint64_t pack(Kind kind, bool live, unsigned space, unsigned variant,
                                      unsigned flags, std::uint64_t block) {
    return (block & kMaxBlockBytes) |
           (std::uint64_t{static_cast<std::uint8_t>(kind)} << kKindShift) |
           (std::uint64_t{live} << kLiveShift) | (std::uint64_t{space & 7u} << kSpaceShift) |
           (std::uint64_t{variant & 7u} << kVariantShift) |
           (std::uint64_t{flags & 0xFFu} << kFlagsShift);
  }
  static constexpr std::uint64_t block(std::uint64_t word) { return word & kMaxBlockBytes; }
  static constexpr Kind kind(std::uint64_t word) {
    return static_cast<Kind>((word >> kKindShift) & 31u);
  }
  static constexpr bool live(std::uint64_t word) { return ((word >> kLiveShift) & 1u) != 0; }
  static constexpr unsigned space(std::uint64_t word) { return (word >> kSpaceShift) & 7u; }
  static constexpr unsigned variant(std::uint64_t word) { return (word >> kVariantShift) & 7u; }
  static constexpr unsigned flags(std::uint64_t word) {
    return static_cast<unsigned>(word >> kFlagsShift);
  }
};

// Flags. The first five are those of the C ABI.
inline constexpr unsigned kFlagKernelBinaries = 1u << 0;
inline constexpr unsigned kFlagTrace = 1u << 1;
inline constexpr unsigned kFlagProgramCache = 1u << 2;
inline constexpr unsigned kFlagRequestedOnly = 1u << 3;
inline constexpr unsigned kFlagEstimated = 1u << 4;
inline constexpr unsigned kFlagPerCore = 1u << 5;  // buffer: `address` is a blob of addresses
inline constexpr unsigned kFlagLaunchesUntold = 1u << 5;  // program, as in the C ABI
// Program: dispatched since it was registered and since a device of its set was last closed. Its
// kernels count, and it can be resident, only while it has this flag.
inline constexpr unsigned kFlagLoaded = 1u << 6;
// Buffer: its operation is that of the launch which followed on the same thread.
inline constexpr unsigned kFlagDerived = 1u << 6;
// Program: released by its owner, kept because a live trace replays it. It counts nothing by
// itself. Trace: capture has begun and not ended.
inline constexpr unsigned kFlagHeld = 1u << 7;

// What every kind stores in the 56 bytes after the version. `time` is in ticks of the header's
// clock.
//
//   kind     id          a                b                       time            set, allocator
//   buffer   buffer id   address          requested               allocated       set, allocator
//   program  program id  workload id      config blob, generation registered      set, 0
//   kernel   program id  content hash     packed, text            see KernelPlace 0, index
//   range    program id  address          page bytes, index       viewed buffer   set, 0
//   workload workload id dispatch count * order stamp *           last dispatch * set, loads
//   trace    trace id    replay count *   order stamp *           last replay *   set, queue
//
//   kind      cores                    operation             origin
//   buffer    cores or banks (blob)    operation (blob)      node (blob)
//   program   0                        name (blob)           node (blob)
//   kernel    cores (blob)             name (blob)           source (blob)
//   range     cores (blob)             generation            0
//   workload  slot of its binaries +   first dispatch        node (blob)
//   trace     members (blob)           first replay          node (blob)
//
// In a release, `time` of a buffer and a program is when it was released.
// First dispatch and first replay are FirstTime words. The operation of a buffer is told here only
// where its origin has none: by the launch that followed (kFlagDerived).
// + kNoSlot = none. Times of workloads and traces are CLOCK_MONOTONIC nanoseconds, a few ms coarse,
// because a dispatch cannot afford to read the clock that `ticks` come from.
//
// Two values in one word: the first in the low 32 bits, the second in the high 32 bits.
// A workload's block counts its reloads: launches whose slice had left the ring. `loads` are its
// launches that loaded a program; both stay where they are when they are full. In the event of a
// reload `time` is when it happened.
// A range's size is the block of its meta word. Ranges count only while their generation equals
// that of the live program of the same (id, set): one write of the program's slot swaps them all.
// Kernels count through any live program slot of the same id. Words marked * are *live words*: one
// atomic store each, without the lock and outside the version; a reader takes them from the table
// alone, never from an event.
struct Payload {
  std::uint64_t meta;
  std::uint64_t id;
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t time;
  std::uint16_t set;
  std::uint16_t allocator;
  std::uint32_t cores;
  std::uint32_t operation;
  std::uint32_t origin;
};
static_assert(sizeof(Payload) == 56);
static_assert(offsetof(Payload, meta) == 0);
static_assert(offsetof(Payload, id) == 8);
static_assert(offsetof(Payload, a) == 16);
static_assert(offsetof(Payload, b) == 24);
static_assert(offsetof(Payload, time) == 32);
static_assert(offsetof(Payload, set) == 40);
static_assert(offsetof(Payload, allocator) == 42);
static_assert(offsetof(Payload, cores) == 44);
static_assert(offsetof(Payload, operation) == 48);
static_assert(offsetof(Payload, origin) == 52);

// The `time` word of a kernel.
struct KernelPlace {
  static constexpr std::uint64_t pack(unsigned processor, unsigned core_type) {
    return (processor & 0xFFu) | ((core_type & 0xFFu) << 8);
  }
  static constexpr unsigned processor(std::uint64_t word) { return word & 0xFFu; }
  static constexpr unsigned core_type(std::uint64_t word) { return (word >> 8) & 0xFFu; }
};

// The first dispatch of a workload, or replay of a trace: the time after the moment of the header's
// clock, in steps of 2^22 ns (4 ms, as coarse as the clock it comes from), plus 1. 0 = never; the
// highest number, after 208 days, means "then or later".
struct FirstTime {
  static constexpr unsigned kShift = 22;
  static constexpr std::uint32_t pack(std::uint64_t monotonic_ns, std::uint64_t clock_ns) {
    const std::uint64_t steps =
        (monotonic_ns > clock_ns ? (monotonic_ns - clock_ns) >> kShift : 0) + 1;
    return steps < UINT32_MAX ? static_cast<std::uint32_t>(steps) : UINT32_MAX;
  }
  // CLOCK_MONOTONIC nanoseconds; 0 = never.
  static constexpr std::uint64_t monotonic_ns(std::uint32_t word, std::uint64_t clock_ns) {
    return word == 0 ? 0 : clock_ns + (std::uint64_t{word - 1} << kShift);
  }
};

struct Slot {
  std::uint64_t version;  // number of the event that last changed it << 1 | being written
  Payload payload;
};
static_assert(sizeof(Slot) == 64);
static_assert(offsetof(Slot, payload) == 8);

struct Event {
  std::uint32_t number;  // low 32 bits of the event's number; event n stands at n % capacity
  std::uint32_t slot;    // the slot that now holds `payload`, or kNoSlot for a note
  Payload payload;
};
static_assert(sizeof(Event) == 64);
static_assert(offsetof(Event, slot) == 4);
static_assert(offsetof(Event, payload) == 8);

// Notes: events that change no slot. The note's kind stands in `variant` and the low block bits:
// Meta::block(meta) = Note. Fields: id, a, b as named; time, set, allocator as always.
// How a launch found its programs.
enum class Served : std::uint8_t {
  kHit = 0,        // loaded, and their slice in the ring
  kFirstLoad = 1,  // one of them was never launched before
  kReload = 2,     // the slice had left the ring
};

enum class Note : std::uint8_t {
  kDeviceOpened = 1,      // a = device index
  kDeviceClosed = 2,      // a = device index
  kAllocatorOpened = 3,   // allocator, set
  kAllocatorResized = 4,  // allocator, space
  kAllocatorCleared = 5,  // allocator; its buffers' releases precede it
  kAllocatorClosed = 6,   // allocator
  kLaunched = 7,          // id = workload id, a = its launches so far, b = Served; if asked for
  kTraceCaptured = 8,     // id = trace id, a = workload id
  kTraceReplayed = 9,     // id = trace id, a = replay count
  kFailed = 10,           // id = number of the failure, a = kind
  kAnomaly = 11,          // a = kind, b = id that was not known
  kRingFull = 12,         // id = ring manager
  kEnded = 13,            // a = Ended
  kStep = 14,             // a = steps so far
};

}  // namespace ttmem::segment
