// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One thing that happened in one process, told in words: plain data that views print as a line or a
// JSON object. Kernels and L1 ranges have no events of their own: they come and go with their
// program, and its event carries them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/enums.hpp"
#include "ledger/figures.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

enum class EventKind : std::uint8_t {
  kProcessStarted,
  kProcessEnded,  // `ended` says how; what it held no longer counts
  kGap,           // `missed` events were overwritten before they were read
  kDeviceOpened,
  kDeviceClosed,
  kAllocatorOpened,
  kAllocatorResized,
  kAllocatorCleared,
  kAllocatorClosed,
  kBufferAllocated,
  kBufferFreed,
  kBufferChanged,      // flags that became known later
  kProgramRegistered,  // its L1 ranges count from here, its kernels not yet
  kProgramLoaded,      // first dispatch: its kernels count from here
  kProgramChanged,     // ranges or config size replaced, or its device closed
  kProgramReleased,
  kWorkloadCreated,
  kWorkloadChanged,
  kWorkloadReleased,
  kReloaded,  // a workload whose slice had left the ring
  kTraceBegun,
  kTraceCaptured,  // a workload became a member
  kTraceEnded,
  kTraceReplayed,
  kTraceReleased,
  kFailed,
  kAnomaly,
  kRingFull,
  kLaunched,  // `served` says how; only of processes that record every launch
  kStep,      // the program says that its next step begins; `count` so far
};

template <>
inline constexpr std::array<std::string_view, 30> kNamesOf<EventKind> = {"process_started",
                                                                         "process_ended",
                                                                         "gap",
                                                                         "device_opened",
                                                                         "device_closed",
                                                                         "allocator_opened",
                                                                         "allocator_resized",
                                                                         "allocator_cleared",
                                                                         "allocator_closed",
                                                                         "buffer_allocated",
                                                                         "buffer_freed",
                                                                         "buffer_changed",
                                                                         "program_registered",
                                                                         "program_loaded",
                                                                         "program_changed",
                                                                         "program_released",
                                                                         "workload_created",
                                                                         "workload_changed",
                                                                         "workload_released",
                                                                         "reloaded",
                                                                         "trace_begun",
                                                                         "trace_captured",
                                                                         "trace_ended",
                                                                         "trace_replayed",
                                                                         "trace_released",
                                                                         "failed",
                                                                         "anomaly",
                                                                         "ring_full",
                                                                         "launched",
                                                                         "step"};

// How a launch found its programs: see segment::Served.
enum class Served : std::uint8_t { kHit, kFirstLoad, kReload };
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<Served> = {"hit", "first_load", "reload"};

// A device that the event concerns, with its totals over all live processes after the event: what
// the original printed as "Total".
struct EventDevice {
  std::uint32_t id = 0;  // as in the snapshot
  std::uint64_t unique_id = 0;
  std::uint64_t kernels_footprint = 0;
  std::uint64_t program_l1_allocated = 0;
  std::uint64_t kernels_estimated = 0;
  bool operator==(const EventDevice&) const = default;
};

struct EventKernel {
  std::string name, source;
  CoreType core_type = CoreType::kTensix;
  std::uint8_t processor = 255;
  std::uint32_t packed_bytes = 0;
  std::uint32_t cores = 0;      // 0 = not known, counted as one
  std::uint64_t footprint = 0;  // packed bytes x cores
};

// Fields that a kind does not name are empty or 0.
struct EventView {
  EventKind kind = EventKind::kGap;
  TimeNs time = 0;
  Owner process = nobody();
  std::uint64_t number = 0;  // of the event in its process; 0 = not written by it
  std::vector<EventDevice> devices;

  std::uint64_t id = 0;  // of the buffer, program, workload, trace, allocator or ring manager
  std::uint64_t workload = 0;
  std::string name, operation, line, region;
  bool operation_is_derived = false;  // from the launch that followed on the same thread
  Stack stack;

  // Buffers. Bytes are those of one device.
  Space space = Space::kDram;
  Layout layout = Layout::kInterleaved;
  std::uint64_t address = 0;
  std::uint64_t requested = 0;
  Figure block, taken;  // empty = not known
  bool kernel_binaries = false, estimated = false;

  // Programs, on one device. `loaded` and `l1_*` give the state on both sides of the event.
  KernelType type = KernelType::kApplication;
  std::vector<EventKernel> kernels;
  std::uint64_t footprint = 0;  // of all its kernels, whether loaded or not
  Figure cores;                 // that its kernels run on, each once; empty = not known
  std::uint64_t estimated_before = 0, estimated_after = 0;  // its footprint, if that is a guess
  bool loaded_before = false, loaded_after = false;
  std::uint64_t l1_before = 0, l1_after = 0;  // size x cores of its ranges, views left out

  std::uint64_t count = 0;  // replays, launches or steps so far
  Served served = Served::kHit;
  std::uint64_t missed = 0;
  Ended ended = Ended::kAlive;
  std::uint32_t failure = 0;        // number of the failure
  std::string reason;               // kind of the failure or anomaly
  std::uint64_t unknown_id = 0;     // anomaly: what was not known
  std::uint64_t freed_buffers = 0;  // process ended: what it still held
};

}  // namespace ttmem::ledger
