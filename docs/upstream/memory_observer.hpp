// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A proposal to TT-Metal (docs/upstream.md): who allocates, places and launches tells one observer,
// through ten callbacks. With it, tools that account for memory need no private name of the
// library.
//
// Rules for the runtime:
//  - One observer for each process, none by default: then an event costs one load and one branch.
//  - A callback is called after the thing happened, on the thread that did it, outside the locks of
//    the runtime. Descriptions live until it returns. What is freed is told before its id or its
//    address can be given out again.
//  - Ids are the runtime's own and are not reused while the thing lives. 0 is none.
//  - Structs only grow, at their end: `size` says what the runtime filled.
// Rules for the observer: it does not throw, block, or call back into the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tt::tt_metal::experimental {

using ObservedId = std::uint64_t;

/// As BufferType.
enum class ObservedSpace : std::uint8_t { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class ObservedCoreType : std::uint8_t { TENSIX, ACTIVE_ETH, IDLE_ETH };
enum class ObservedOwner : std::uint8_t { APPLICATION, FABRIC, DISPATCH };

/// Logical cores, both ends included.
struct ObservedCores {
  std::uint32_t x0, y0, x1, y1;
};

/// The kernel-config ring of one core type.
struct ObservedRing {
  std::uint32_t base, bytes;
};

struct ObservedDevice {
  std::size_t size = sizeof(ObservedDevice);
  int chip;                 ///< the number of this process for it
  std::uint64_t unique_id;  ///< of the chip
  std::uint32_t arch;       ///< as tt::ARCH
  bool mock;
  std::string_view board;
  std::uint32_t worker_columns, worker_rows, all_columns, all_rows;
  std::uint32_t dram_banks;
  std::uint64_t dram_bank_bytes;
  std::uint32_t l1_bytes, l1_unreserved_base;
  std::span<const ObservedRing> rings;  ///< by core type
};

struct ObservedBank {
  ObservedSpace space;
  std::uint32_t banks;       ///< 0: there is no such space
  std::uint64_t base;        ///< first address that can be given out
  std::uint64_t bank_bytes;  ///< that can be given out in each bank
  std::uint32_t alignment;
  std::span<const ObservedCores> cores;  ///< L1: of each bank
};

struct ObservedAllocator {
  std::size_t size = sizeof(ObservedAllocator);
  ObservedId id;
  std::span<const int> chips;  ///< in the order of the mesh
  std::uint32_t rows, columns;
  std::span<const ObservedBank> spaces;
};

struct ObservedBuffer {
  std::size_t size = sizeof(ObservedBuffer);
  ObservedId allocator, id;
  ObservedSpace space;
  std::uint8_t layout;                            ///< as TensorMemoryLayout
  std::uint64_t requested;                        ///< on one chip
  std::uint64_t block;                            ///< taken from each bank, as aligned
  std::uint64_t address;                          ///< in every bank, unless each core has its own
  std::span<const ObservedCores> cores;           ///< that hold data; none: every bank
  std::span<const std::uint64_t> core_addresses;  ///< row by row, where each core has its own
  ObservedId binaries_of;                         ///< the workload whose kernels it holds; 0: none
};

struct ObservedKernel {
  std::string_view name, source;
  std::uint64_t hash;  ///< equal for equal binaries
  ObservedCoreType core_type;
  std::uint8_t processor;  ///< 0 BRISC, 1 NCRISC, 2..4 TRISC, 5 all of compute
  std::uint32_t packed_bytes, text_bytes;
  std::span<const ObservedCores> cores;
};

enum class ObservedPart : std::uint8_t { CIRCULAR_BUFFER, DATAFLOW_BUFFER, SCRATCHPAD };

/// L1 that a program takes while it is resident.
struct ObservedRange {
  ObservedPart part;
  std::uint64_t address, bytes;  ///< on each core
  std::span<const ObservedCores> cores;
};

struct ObservedProgram {
  std::size_t size = sizeof(ObservedProgram);
  ObservedId id;
  ObservedOwner owner;  ///< one of the system is loaded from now on, without a launch
  std::span<const int> chips;
  std::string_view operation;
  std::span<const ObservedKernel> kernels;
  std::span<const ObservedRange> ranges;
  std::span<const std::uint32_t> ring_bytes;  ///< by core type
};

struct ObservedLaunch {
  std::size_t size = sizeof(ObservedLaunch);
  ObservedId workload;  ///< 0: one program, without a workload
  std::span<const ObservedId> programs;
  std::span<const int> chips;
  ObservedId queue;
  std::uint32_t queue_number;
  bool slow;
  ObservedId captured_by;               ///< the trace that keeps it instead of running it; 0: none
  std::span<const ObservedRing> rings;  ///< of the queue, by core type; none: no ring was used
  std::span<const std::uint32_t> ring_bytes;  ///< taken, by core type
  bool waited;                                ///< for launches up to `freed`, whose slices are free
  std::uint32_t freed, completed;             ///< completion counts of the queue
};

enum class ObservedTraceStep : std::uint8_t { BEGUN, ENDED, REPLAYED, RELEASED };

struct ObservedTrace {
  std::size_t size = sizeof(ObservedTrace);
  ObservedTraceStep step;
  ObservedId trace, queue;  ///< RELEASED has no queue
  std::span<const int> chips;
  std::uint32_t queue_number;
  std::uint32_t completed;  ///< BEGUN and REPLAYED fill the ring until this completion count
};

enum class ObservedFault : std::uint8_t { OUT_OF_MEMORY, RING_TOO_SMALL, L1_CLASH, OTHER };

struct ObservedFailure {
  std::size_t size = sizeof(ObservedFailure);
  ObservedFault fault;
  std::string_view message;
  std::uint64_t requested, per_bank;  ///< 0: not known
  ObservedId allocator, program;      ///< 0: none
  ObservedSpace space;
  std::span<const int> chips;
};

enum class ObservedThing : std::uint8_t { DEVICE, ALLOCATOR, PROGRAM, WORKLOAD, QUEUE };

class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;
  virtual void device_opened(const ObservedDevice& device) noexcept = 0;
  /// It is new, or what it can give out has changed.
  virtual void allocator_changed(const ObservedAllocator& allocator) noexcept = 0;
  /// All its buffers are released.
  virtual void allocator_cleared(ObservedId allocator) noexcept = 0;
  virtual void buffer_allocated(const ObservedBuffer& buffer) noexcept = 0;
  virtual void buffer_freed(ObservedId allocator, ObservedSpace space, ObservedId id) noexcept = 0;
  /// Compiled and placed: its kernels and its L1 are known.
  virtual void program_placed(const ObservedProgram& program) noexcept = 0;
  virtual void launched(const ObservedLaunch& launch) noexcept = 0;
  virtual void trace_changed(const ObservedTrace& trace) noexcept = 0;
  /// Told before the exception leaves the runtime.
  virtual void failed(const ObservedFailure& failure) noexcept = 0;
  /// A device by its chip number, a queue with its mesh, everything else by its id.
  virtual void ended(ObservedThing thing, ObservedId id) noexcept = 0;
};

/// From now on; nullptr: nobody. The observer stays alive until another one is set.
void set_memory_observer(MemoryObserver* observer);

}  // namespace tt::tt_metal::experimental
