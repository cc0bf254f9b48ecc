// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The bytes of a recording. docs/recording-format.md tells the same in words.
//
// A recording is a film of segments. It is a legal zstd file: each block is a skippable frame that
// holds a fixed header, and a zstd frame that holds the body. What a block says is relative to one
// process of the file, whose segment can be put together again for any moment:
//
//   file, process   what was recorded, and whose segments
//   blobs           what was added to the interned data, which only grows
//   checkpoint      everything else but the table and the ring, as it stands after an event
//   slots           the table of the checkpoint before it
//   events          consecutive events, and samples of what no event carries, each after an event
//   end             the process has ended, or its segment went away
//   index           all headers again, at a clean end
//
// A state is: all blobs before it, the last checkpoint before it, the events and samples since.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttmem::recording {

inline constexpr char kMagic[8] = {'T', 'T', 'M', 'E', 'M', 'R', 'E', 'C'};
inline constexpr char kEndMagic[8] = {'T', 'T', 'M', 'E', 'M', 'E', 'N', 'D'};
inline constexpr std::uint16_t kMajorVersion = 1;  // another one is another format
inline constexpr std::uint16_t kMinorVersion = 0;  // a higher one only added kinds and fields
inline constexpr std::uint32_t kFrameMagic = 0x184D2A5E;  // a skippable frame of zstd

enum class BlockKind : std::uint16_t {
  kFile = 1,
  kProcess = 2,
  kBlobs = 3,
  kCheckpoint = 4,
  kSlots = 5,
  kEvents = 6,
  kEnd = 7,
  kIndex = 8,
};

// One moment on the clocks of the recorded host: as the recorder read them.
struct Moment {
  std::uint64_t tsc;  // 0 where there is none
  std::uint64_t monotonic_ns;
  std::uint64_t wall_ns;
};

struct BlockHeader {
  std::uint32_t frame_magic;
  std::uint32_t frame_bytes;  // that follow: of this header
  char magic[8];
  std::uint16_t major;
  std::uint16_t minor;
  std::uint16_t kind;  // BlockKind
  std::uint16_t reserved0;
  std::uint32_t process;       // 1, 2, ... in the order in which they were found; 0 = the file
  std::uint32_t number;        // of the block: 0, 1, 2, ...
  std::uint32_t packed_bytes;  // of the zstd frame that follows
  std::uint32_t plain_bytes;   // of what it holds
  // Of events: how many. Of a checkpoint: slots in the blocks that follow. Of slots: how many.
  std::uint32_t count;
  std::uint32_t reserved1;
  std::uint64_t first_event;  // of events
  std::uint64_t last_event;   // of events; of all others: the state is the one after this event
  std::uint64_t missed;       // events that were lost before this block
  std::uint64_t first_ns;     // wall clock, of events: the first and the last
  std::uint64_t last_ns;
  Moment read;                  // when it was read from the process
  std::uint32_t body_checksum;  // CRC-32 of the packed body
  std::uint32_t checksum;       // CRC-32 of this header up to here
  std::uint64_t reserved2;
};
static_assert(sizeof(BlockHeader) == 128);
static_assert(offsetof(BlockHeader, kind) == 20);
static_assert(offsetof(BlockHeader, packed_bytes) == 32);
static_assert(offsetof(BlockHeader, first_event) == 48);
static_assert(offsetof(BlockHeader, read) == 88);
static_assert(offsetof(BlockHeader, checksum) == 116);

// The last bytes of a file that was ended: a skippable frame that says where the index stands.
struct Trailer {
  std::uint32_t frame_magic;
  std::uint32_t frame_bytes;
  char magic[8];
  std::uint64_t index_offset;
  std::uint32_t reserved;
  std::uint32_t checksum;  // CRC-32 of the trailer up to here
};
static_assert(sizeof(Trailer) == 32);

// The body of an index: one of these a block.
struct IndexEntry {
  std::uint64_t offset;
  BlockHeader header;
};
static_assert(sizeof(IndexEntry) == 136);

// The body of the file's block. Texts end with NUL.
struct FileInfo {
  char version[32];  // of the ttmem that recorded
  char host[256];
  char boot_id[40];
  std::uint64_t started_ns;  // wall clock
  std::uint32_t flags;
  std::uint32_t part;     // of a recording that was cut into several files: 0, 1, ...
  char directories[664];  // that were looked into, with ':' between
};
static_assert(sizeof(FileInfo) == 1008);
inline constexpr std::uint32_t kRedacted = 1u << 0;  // users, hosts, commands, paths are numbers
inline constexpr std::uint32_t kLaunches = 1u << 1;  // launches were sampled at every look

// The body of a process's block.
struct ProcessInfo {
  char segment[256];    // path of its file
  char user[64];        // name of the owner
  char container[128];  // "" = the namespace of the recorder
  std::uint32_t owner;  // uid
  std::uint32_t trusted;
};
static_assert(sizeof(ProcessInfo) == 456);

// The body of an end.
struct EndInfo {
  std::uint32_t how;  // ledger::Ended; 0 = still alive when the recording ended
  std::uint32_t reserved;
  std::uint64_t at_ns;  // wall clock
};
static_assert(sizeof(EndInfo) == 16);

// A patch: so many bytes of the segment's file, from there on, are now these. Samples and
// checkpoints are made of patches.
struct PatchHead {
  std::uint64_t offset;
  std::uint64_t bytes;
};
static_assert(sizeof(PatchHead) == 16);

// A sample in a block of events: `patches` follow it, `bytes` long, padded to 8. A block's samples
// stand before its events, in the order of `after`.
struct SampleHead {
  std::uint64_t after;  // it holds from after this event on
  Moment read;
  std::uint32_t bytes;
  std::uint32_t flags;
};
static_assert(sizeof(SampleHead) == 40);
// The events that follow refer to it: it holds as soon as the first of them does, although it was
// read after them.
inline constexpr std::uint32_t kNeeded = 1u << 0;

// The body of a block of events: this, the samples, the columns (recording/columns.hpp).
struct EventsHead {
  std::uint64_t sample_bytes;
};

// ---- limits ------------------------------------------------------------------------------------

inline constexpr std::uint32_t kBlockEvents = 16'384;        // written when so many came
inline constexpr std::uint64_t kBlockNs = 1'000'000'000;     // or after this time
inline constexpr std::uint64_t kSampleNs = 100'000'000;      // between two samples, at least
inline constexpr std::uint64_t kCheckpointEvents = 250'000;  // between two checkpoints, at most
inline constexpr std::uint32_t kBlockSlots = 65'536;
inline constexpr std::uint32_t kBlobChunk = 1u << 20;
inline constexpr std::uint32_t kMaxPlainBytes = 64u << 20;
inline constexpr std::uint32_t kMaxBlockEvents = 1u << 17;
inline constexpr std::uint32_t kMaxBlocks = 1u << 24;
inline constexpr std::uint32_t kMaxProcesses = 4096;

}  // namespace ttmem::recording
