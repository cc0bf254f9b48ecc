// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The bytes of a segment. docs/segment-format.md tells the same in words.
//
//   0        Header        who writes, whose memory, clocks, what is bound, how it ended
//            Device[]      one per chip, open or closed
//            DeviceSet[]   lists of devices in mesh order
//            Allocator[]   geometry and audit of each space
//            RingManager[] the kernel-config rings, state included
//            Counters      peaks, event counts, anomalies; arrays by device
//            Peaks         what was held at the moments of the peaks
//            Watermark[]   peaks of regions
//            Failure[]     the first and the last four, each with its frozen picture
//            Slot[]        lists: of each failure, all buffers of the space that failed
//            Blob...       interned strings, core sets and lists, append only
//            Event[]       a ring of numbered records, overwritten in place
//   last     Slot[]        the live table: the truth
//
// One rule carries everything: **an event is one slot's new payload.** Event n says "slot i is now
// this", the slot's version becomes n, and the table is the fold of all events. So a reader that
// read the table while it changed repairs its copy from the ring, and the state after event n is
// exact. The order of writing is: event record, slot, head; so a slot is at most one event ahead of
// `head`. Things with a version (everything but counters and blobs) are written: version odd,
// payload, version even; they are read twice and taken when both reads agree. A slot's version is
// an event's number, that of any other record a counter of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "segment/format_interned.hpp"
#include "segment/format_slot.hpp"
#include "segment/limits.hpp"

namespace ttmem::segment {

inline constexpr char kMagic[8] = {'T', 'T', 'M', 'E', 'M', 'S', 'E', 'G'};
inline constexpr std::uint16_t kMajorVersion = 1;  // another one is another format
inline constexpr std::uint16_t kMinorVersion = 0;  // a higher one only appended

// ---- header --------------------------------------------------------------------------------

enum class SectionKind : std::uint32_t {
  kDevices = 1,
  kDeviceSets = 2,
  kAllocators = 3,
  kRingManagers = 4,
  kCounters = 5,
  kWatermarks = 6,
  kFailures = 7,
  kInterned = 8,
  kEvents = 9,
  kTable = 10,
  kPeaks = 11,
  kLists = 12,
};
inline constexpr std::uint32_t kSections = 12;

struct Section {
  std::uint32_t kind;
  std::uint32_t entry_bytes;
  std::uint64_t offset;
  std::uint64_t max_bytes;
};
static_assert(sizeof(Section) == 24);

// A process, told apart from every other one: pid alone is never enough.
struct Identity {
  std::uint8_t boot_id[16];
  std::uint64_t start_ticks;  // field 22 of /proc/PID/stat; 0 = not known
  std::uint64_t pid_namespace;
  std::int32_t pid;  // in its own namespace
  std::uint32_t uid;
  char name[32];      // comm, NUL-padded
  char command[184];  // arguments joined by spaces, cut, NUL-terminated
};
static_assert(sizeof(Identity) == 256);
static_assert(offsetof(Identity, start_ticks) == 16);
static_assert(offsetof(Identity, pid) == 32);
static_assert(offsetof(Identity, name) == 40);
static_assert(offsetof(Identity, command) == 72);

enum class ClockKind : std::uint32_t { kMonotonicNs = 0, kTsc = 1 };

// Ticks, and one moment at which all three clocks were read. Readers interpolate.
struct Clock {
  std::uint32_t kind;
  std::uint32_t reserved;
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t wall_ns;
};
static_assert(sizeof(Clock) == 32);

enum class Ended : std::uint32_t { kNot = 0, kClosed = 1 };

// Header flags.
inline constexpr std::uint32_t kHeaderNotTmpfs = 1u << 0;        // stores may be slow: warn
inline constexpr std::uint32_t kHeaderAttachedLate = 1u << 1;    // seeded, not seen from the start
inline constexpr std::uint32_t kHeaderStandInKernels = 1u << 2;  // kernel sizes are a stand-in's
inline constexpr std::uint32_t kHeaderGrowthStopped = 1u << 3;   // no room: see unrecorded
inline constexpr std::uint32_t kHeaderPartial = 1u << 4;         // adopted by a restarted writer
inline constexpr std::uint32_t kHeaderRecreated = 1u << 5;       // the file had been unlinked
inline constexpr std::uint32_t kHeaderDisconnected = 1u << 6;    // a legacy client's socket closed
inline constexpr std::uint32_t kHeaderStacksCut = 1u << 7;       // no room: lines alone, or nothing
inline constexpr std::uint32_t kHeaderUnreached = 1u << 8;       // RTLD_DEEPBIND: nothing is seen

// Whether the lines of Python are told.
enum class Lines : std::uint32_t {
  kUnknown = 0,  // nobody has tried: no Python, or none that uses the runtime
  kOn = 1,
  kOff = 2,      // asked for
  kRefused = 3,  // this interpreter's frames are not read: the reason says why
};

struct Header {
  char magic[8];
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t header_bytes;
  std::uint64_t nonce;  // random; also in the file's name
  Section sections[kSections];
  std::uint64_t reserved0[1];
  Identity subject;  // whose memory
  Identity writer;   // who writes: the same, but for a daemon that serves a legacy client
  Clock clock;
  char ttmem_version[32];
  char runtime_version[32];
  char runtime_library[256];
  std::uint64_t hooks_wanted[2];
  std::uint64_t hooks_bound[2];
  std::uint32_t hook_names;  // blob
  std::uint32_t source;      // TTMEM_SOURCE_*
  std::uint64_t created_ticks;
  std::uint32_t lines;         // Lines
  std::uint32_t lines_reason;  // blob: string; 0 = none
  std::uint32_t job;           // blob: string, lines NAME=VALUE of the environment; 0 = none
  std::uint8_t reserved1[164];

  // What changes while the process runs, each group on cache lines of its own.
  std::uint64_t head;            // number of the last event; 0 = none. Stored with release.
  std::uint64_t table_slots;     // slots that may hold something; only grows
  std::uint64_t interned_bytes;  // bytes of blobs that are complete
  std::uint32_t device_count;    // records 1..count exist (index 0 is never used)
  std::uint32_t device_set_count;
  std::uint32_t allocator_count;
  std::uint32_t ring_manager_count;
  std::uint32_t failure_count;  // number of failures ever; see failure_place()
  std::uint32_t flags;
  std::uint32_t ended;  // Ended
  // Counts what is written without an event: records with a version, anomalies, the words before
  // `head`. A reader that finds `head` to `order` as they were has nothing to read.
  std::uint32_t changes;
  std::uint64_t ended_ticks;
  std::uint64_t reserved3[8];
  std::uint64_t order;  // stamp of the last dispatch or replay; atomic, no lock
  std::uint64_t reserved4[7];
  std::uint8_t reserved5[2496];
};
static_assert(offsetof(Header, sections) == 24);
static_assert(offsetof(Header, subject) == 320);
static_assert(offsetof(Header, writer) == 576);
static_assert(offsetof(Header, clock) == 832);
static_assert(offsetof(Header, ttmem_version) == 864);
static_assert(offsetof(Header, hooks_wanted) == 1184);
static_assert(offsetof(Header, hook_names) == 1216);
static_assert(offsetof(Header, lines) == 1232);
static_assert(offsetof(Header, job) == 1240);
static_assert(offsetof(Header, head) == 1408);
static_assert(offsetof(Header, order) == 1536);
inline constexpr std::uint64_t kLiveHeaderOffset = offsetof(Header, head);
inline constexpr std::uint64_t kLiveHeaderBytes = offsetof(Header, reserved5) - kLiveHeaderOffset;
static_assert(kLiveHeaderBytes == 192);
static_assert(sizeof(Header) == 4096);

// ---- devices, sets, allocators -------------------------------------------------------------

// The L1 of one core of a type, from the bottom. 0 = no such core, or not known.
struct CoreGeometry {
  std::uint32_t l1_bytes;
  std::uint32_t fixed_end;
  std::uint32_t ring_base;
  std::uint32_t ring_bytes;
  std::uint32_t unreserved_base;
};
static_assert(sizeof(CoreGeometry) == 20);

struct Device {
  std::uint64_t version;
  std::uint64_t unique_id;
  std::int32_t metal_id;
  std::uint32_t arch;
  std::uint8_t mock;
  std::uint8_t open;
  std::uint16_t grid_x;
  std::uint16_t grid_y;
  std::uint16_t dram_banks;
  std::uint64_t dram_bank_bytes;
  std::uint32_t board;       // blob: string
  std::uint32_t cores;       // blob: list of cores with roles
  std::uint32_t open_count;  // 1 = never reopened
  std::uint32_t reserved0;
  std::uint64_t opened_ticks;
  std::uint64_t closed_ticks;
  CoreGeometry geometry[kCoreTypes];
  std::uint8_t reserved[84];
};
static_assert(sizeof(Device) == 256);
static_assert(offsetof(Device, dram_bank_bytes) == 32);
static_assert(offsetof(Device, geometry) == 72);

struct DeviceSet {
  std::uint64_t version;
  std::uint32_t devices;  // blob: list of device indices (u16) in mesh order
  std::uint16_t device_count;
  std::uint16_t parent;
  std::uint16_t rows;
  std::uint16_t columns;
  std::uint8_t reserved[44];
};
static_assert(sizeof(DeviceSet) == 64);

// One memory space of an allocator, with the last comparison against the runtime's statistics.
struct Space {
  std::uint64_t base;
  std::uint64_t bank_bytes;
  std::uint32_t banks;  // 0 = the space does not exist
  std::uint32_t alignment;
  std::uint32_t bank_cores;  // blob: core of each bank (u8 x, u8 y); 0 = not known
  std::uint32_t audits;      // how often compared; 0 = never
  std::uint64_t audit_ours;  // bytes per bank
  std::uint64_t audit_theirs;
  std::uint64_t audit_ticks;
  std::uint64_t reserved;
};
static_assert(sizeof(Space) == 64);

struct Allocator {
  std::uint64_t version;
  std::uint16_t set;
  std::uint8_t per_core;
  std::uint8_t open;
  std::uint32_t reserved0;
  std::uint64_t opened_ticks;
  std::uint64_t closed_ticks;
  std::uint8_t reserved[32];
  Space spaces[kSpaces];  // by space number; SYSTEM_MEMORY stays empty
};
static_assert(sizeof(Allocator) == 384);
static_assert(offsetof(Allocator, spaces) == 64);

// ---- the kernel-config ring ----------------------------------------------------------------

struct RingEntry {
  std::uint32_t address;
  std::uint32_t bytes;
  std::uint32_t sync;
  std::uint32_t reserved;
  std::uint64_t workload;  // whose slice; 0 = none, ~0 = a trace or everything
};
static_assert(sizeof(RingEntry) == 24);

// One ring of a manager: a queue of at most 7 entries over [base, base + bytes).
struct Ring {
  std::uint32_t core_type;
  std::uint32_t base;
  std::uint32_t bytes;
  std::uint32_t alloc_index;    // entry to fill next; its address is the cursor
  std::uint32_t free_index;     // oldest entry in use; equal to alloc_index = empty
  std::uint32_t largest_bytes;  // largest program ever reserved
  std::uint32_t high_water;     // highest byte ever taken, from base
  std::uint32_t reserved;
  RingEntry entries[kRingEntries];
};
static_assert(sizeof(Ring) == 224);

// What lies in a ring: a slice for the last launch of each workload, as long as it is whole. The
// queue forgets an entry when it is free; its bytes stay until something is written over them.
struct RingSlice {
  std::uint32_t begin, end;  // addresses
  std::uint64_t workload;    // id; ~0 = a trace
};
struct RingContents {
  std::uint32_t count;
  std::uint32_t reserved;
  RingSlice slices[kRingSlices];  // the one written last is the last
};
static_assert(sizeof(RingContents) == 8 + 16 * kRingSlices);

// Its version is its own counter << 1 | being written: ring changes are not events.
struct RingManager {
  std::uint64_t version;
  std::uint16_t set;
  std::uint8_t observed;
  std::uint8_t open;
  std::uint32_t queue;
  std::uint32_t sub_device;
  std::uint32_t ring_count;
  std::uint64_t reserves;
  std::uint64_t evictions;  // slices overwritten while their workload was live
  std::uint64_t reloads;    // launches whose slice had to be written again
  std::uint64_t expected;   // completions queued so far (simulated rings)
  std::uint64_t reserved;
  Ring rings[kMaxRings];
  RingContents contents[kMaxRings];  // of the ring of the same number
};
static_assert(sizeof(RingManager) == 64 + 5 * (224 + sizeof(RingContents)));

// ---- counters ------------------------------------------------------------------------------

// Arrays by device index, so that one call on 32 devices walks neighbouring words. Plain stores
// under the writer's lock, except what is marked atomic. `taken` is a cross-check: the truth is
// the table. Dispatch counts of workloads that are gone are folded in here. Program L1 has no
// `taken` of its own: both arrays hold the sum over cores of the largest program L1 dispatched.
struct Counters {
  std::uint64_t events[32];             // by Kind * 2 + live; notes: 16 + Note
  std::uint64_t anomalies[kAnomalies];  // atomic
  std::uint64_t unrecorded;             // atomic: calls that left no trace in the table
  std::uint64_t live_slots;
  std::uint64_t peak_slots;
  std::uint64_t growths;
  std::uint64_t odd_stacks;  // atomic: stacks of Python that were not as they should be
  std::uint64_t reserved[11];
  std::uint64_t taken[kFigures][kMaxDevices];
  std::uint64_t peak[kFigures][kMaxDevices];
  std::uint64_t dispatches[kMaxDevices];   // of workloads that were released
  std::uint64_t first_loads[kMaxDevices];  // launches that loaded a program, ever
  std::uint64_t reloads[kMaxDevices];
  std::uint64_t captures[kMaxDevices];
  std::uint64_t replays[kMaxDevices];  // of traces that were released
  std::uint64_t slow_dispatches[kMaxDevices];
};
static_assert(offsetof(Counters, taken) == 512);
static_assert(sizeof(Counters) == 512 + (8 + 8 + 6) * 256 * 8);

// When a space of some devices was fullest. What was held then is what live buffers hold that are
// not younger, and what such buffers have released since: that is added up in shares.
struct PeakSpace {
  std::uint64_t ticks;  // of the youngest buffer that was held then; 0 = not known
  std::uint64_t bytes;  // taken on each device
  std::uint64_t lost;   // released since then, and no share had room for it
};
static_assert(sizeof(PeakSpace) == 24);

struct Peak {
  std::uint64_t version;  // odd while it or a share of it is being written
  std::uint64_t event;    // the last that changed it
  std::uint32_t lead;     // one of its devices
  std::uint32_t reserved0;
  PeakSpace spaces[kSpaces];  // of DRAM and L1 the words that every call reads are on this line
  std::uint64_t devices[kMaxDevices / 64];  // a bit each; no other record has it
  std::uint64_t reserved[10];
};
static_assert(sizeof(Peak) == 256);
static_assert(offsetof(Peak, spaces) == 24);
static_assert(offsetof(Peak, devices) == 144);

// Released since a peak by buffers that were held then and come from one place.
struct PeakShare {
  std::uint64_t ticks;  // of the peak that it belongs to: another one voids it
  std::uint64_t bytes;  // on each device
  std::uint32_t origin;
  std::uint32_t operation;
  std::uint32_t buffers;
  std::uint16_t peak;  // index
  std::uint16_t space;
};
static_assert(sizeof(PeakShare) == 32);

struct Peaks {
  std::uint32_t count;
  std::uint32_t reserved0;
  std::uint64_t reserved[7];
  Peak peaks[kMaxPeaks];
  PeakShare shares[kPeakShares];
};
static_assert(offsetof(Peaks, peaks) == 64);
static_assert(sizeof(Peaks) == 64 + 64 * 256 + 4096 * 32);

struct Watermark {
  std::uint64_t version;  // odd while being opened or closed
  std::uint32_t in_use;
  std::uint32_t name;  // blob
  std::uint64_t opened_ticks;
  std::uint64_t reserved[5];
  std::uint64_t at_open[kFigures][kMaxDevices];
  std::uint64_t peak[kFigures][kMaxDevices];
};
static_assert(sizeof(Watermark) == 64 + 2 * 8 * 256 * 8);

// ---- failures ------------------------------------------------------------------------------

// Whether the list of a failure has every live buffer of its space on its devices. An entry is a
// slot whose version is the slot's number in the table; what is not live any more counts nothing.
enum class ListState : std::uint32_t { kNone = 0, kComplete = 1, kCut = 2 };

struct Failure {
  std::uint64_t version;
  std::uint32_t number;  // 1, 2, ...
  std::uint32_t kind;    // TTMEM_FAILURE_*
  std::uint64_t ticks;
  std::uint64_t requested;
  std::uint64_t per_bank;
  std::uint64_t program;
  std::uint32_t cores;
  std::uint16_t set;
  std::uint16_t allocator;
  std::uint32_t space;
  std::uint32_t picture_slots;
  std::uint32_t truncated;  // 1 = more was held than the picture shows
  std::uint32_t operation;
  std::uint32_t origin;
  std::uint32_t reserved0;
  std::uint64_t event;       // the picture is the state after this event
  std::uint64_t list_first;  // where its list starts in the section
  std::uint32_t list_slots;  // how long it is
  std::uint32_t list_state;  // ListState
  std::uint64_t reserved[1];
  char message[kMaxMessageBytes];  // NUL-terminated
  std::uint8_t reserved1[2048 - 128 - kMaxMessageBytes + 16];
  Slot picture[kMaxPictureSlots];
};
static_assert(offsetof(Failure, message) == 112);
static_assert(offsetof(Failure, picture) == 2048);

// Where the failure of this number stands. The first ones stay; the others take turns.
inline constexpr std::uint32_t failure_place(std::uint32_t number) {
  return number <= kFirstFailures ? number - 1
                                  : kFirstFailures + (number - kFirstFailures - 1) % kLastFailures;
}
static_assert(failure_place(1) == 0 && failure_place(4) == 3 && failure_place(5) == 4);
static_assert(failure_place(8) == 7 && failure_place(9) == 4);

// The next failure of `count` that is kept; beyond `count` if there is none. 64 bits: a stranger
// says how many there were.
inline constexpr std::uint64_t next_failure(std::uint64_t number, std::uint64_t count) {
  const std::uint64_t next = number + 1;
  const bool is_gone = next > kFirstFailures && next + kLastFailures <= count;
  return is_gone ? count - kLastFailures + 1 : next;
}
static_assert(next_failure(0, 3) == 1 && next_failure(4, 20) == 17 && next_failure(20, 20) == 21);
static_assert(next_failure(4, 8) == 5 && next_failure(4, 9) == 6 && next_failure(17, 20) == 18);

// ---- where things stand --------------------------------------------------------------------

// The offsets this version writes. A reader takes them from the header's section table.
inline constexpr std::uint64_t kDevicesOffset = 4096;
inline constexpr std::uint64_t kDeviceSetsOffset = kDevicesOffset + kMaxDevices * sizeof(Device);
inline constexpr std::uint64_t kAllocatorsOffset =
    kDeviceSetsOffset + kMaxDeviceSets * sizeof(DeviceSet);
inline constexpr std::uint64_t kRingManagersOffset =
    kAllocatorsOffset + kMaxAllocators * sizeof(Allocator);
inline constexpr std::uint64_t page_up(std::uint64_t bytes) { return (bytes + 4095) & ~4095ull; }
inline constexpr std::uint64_t kCountersOffset =
    page_up(kRingManagersOffset + kMaxRingManagers * sizeof(RingManager));
inline constexpr std::uint64_t kWatermarksOffset = page_up(kCountersOffset + sizeof(Counters));
inline constexpr std::uint64_t kFailuresOffset =
    page_up(kWatermarksOffset + kMaxWatermarks * sizeof(Watermark));
inline constexpr std::uint64_t kPeaksOffset =
    page_up(kFailuresOffset + kMaxFailures * sizeof(Failure));
inline constexpr std::uint64_t kListsOffset = page_up(kPeaksOffset + sizeof(Peaks));
inline constexpr std::uint64_t kInternedOffset = kListsOffset + kMaxListSlots * sizeof(Slot);
inline constexpr std::uint64_t kEventsOffset = kInternedOffset + kMaxInternedBytes;
inline constexpr std::uint64_t kTableOffset = kEventsOffset + kMaxEventCapacity * sizeof(Event);
static_assert(kAllocatorsOffset % 4096 == 0 && kRingManagersOffset % 4096 == 0);
static_assert(kEventsOffset % 4096 == 0 && kTableOffset % 4096 == 0);

}  // namespace ttmem::segment
