// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A small world for tests: devices, sets, allocators and programs in a few words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/assemble.hpp"
#include "ledger/process_ledger.hpp"

namespace ttmem::ledger {

inline constexpr std::uint32_t kL1Bytes = 1499136;  // Wormhole, as in docs/figures.md
inline constexpr std::uint32_t kRingBase = 35008;
inline constexpr std::uint32_t kRingBytes = 70656;
inline constexpr std::uint32_t kProgramBase = 105664;

struct Cb {
  std::uint64_t address = kProgramBase;
  std::uint64_t size = 0;
  CoreRange cores;
  Part part = Part::kCb;
  std::uint64_t viewed_buffer = 0;
};

struct Kernel {
  std::uint32_t packed = 0;
  CoreRange cores;
  CoreType core_type = CoreType::kTensix;
  std::uint64_t hash = 0;
  StringId name = 0;
};

// A Wormhole: `columns` x `rows` workers, two dispatch cores below them, 16 ethernet cores.
DeviceRecord wormhole(std::uint64_t unique_id, int metal_id, unsigned columns = 8,
                      unsigned rows = 8);
// 12 DRAM banks, an L1 bank a worker, and an L1_SMALL region if asked for.
AllocatorRecord wormhole_allocator(SetIndex set, unsigned workers,
                                   std::uint64_t l1_small_bytes = 0);

// A process with a ledger, and the ids it has handed out so far.
class World {
 public:
  ProcessLedger ledger;

  // `count` chips with unique ids and Metal ids from `first_id` on: devices 1..count.
  explicit World(unsigned count = 1, unsigned columns = 8, unsigned rows = 8,
                 std::uint64_t first_id = 0);
  SetIndex set(const std::vector<DeviceIndex>& devices);
  AllocatorIndex allocator(SetIndex set, std::uint64_t l1_small_bytes = 0, bool per_core = false);
  CoresId cores(CoreRange range, CoreType type = CoreType::kTensix);
  StringId string(const std::string& text);

  SlotIndex buffer(AllocatorIndex allocator, Space space, std::uint64_t address,
                   std::uint64_t block, std::uint64_t requested, CoresId on = 0);
  SlotIndex apply(const Record& record);  // into a new slot
  void clear(SlotIndex slot);

  // Registers (id, set) with a workload of the same id; loads it at the first dispatch.
  void program(std::uint64_t id, SetIndex set, const std::vector<Cb>& cbs,
               const std::vector<Kernel>& kernels = {}, KernelType type = KernelType::kApplication);
  void replace_ranges(std::uint64_t id, SetIndex set, const std::vector<Cb>& cbs);
  void dispatch(std::uint64_t id);
  void drop(std::uint64_t id);                // every set of it, and its workload
  void hold(std::uint64_t id, SetIndex set);  // released by its owner, kept for a trace
  void trace(std::uint64_t id, SetIndex set, const std::vector<TraceMember>& members);
  void replay(std::uint64_t id);
  void release_trace(std::uint64_t id);
  void close(DeviceIndex device);
  void ring_manager(const RingManagerRecord& record);

  DeviceFigures figures(DeviceIndex device = 1) const { return ledger.figures(device); }
  std::uint64_t resident(DeviceIndex device = 1) const;
  std::uint64_t reserved(DeviceIndex device = 1) const;
  std::uint64_t allocated(DeviceIndex device = 1) const;
  ProcessInput input(int pid = 1, bool alive = true) const;
  std::size_t holdings() const;  // that are told one by one
  // The ledger of a reader that starts now: it is told what is there, never what was.
  ProcessLedger late_reader() const;
  // "" if everything that must hold in a snapshot of this process holds.
  std::string check(bool exact = true) const;

 private:
  struct Registered {
    SlotIndex slot = 0;
    ProgramRecord record;
    std::vector<SlotIndex> ranges;
  };
  void add_ranges(Registered& program, const std::vector<Cb>& cbs);
  void put(SlotIndex slot, const Record& record);
  void launch(SlotIndex slot, const Launches& launches);

  unsigned columns_, rows_;
  SlotIndex next_slot_ = 1;
  SetIndex next_set_ = 1;
  AllocatorIndex next_allocator_ = 1;
  std::uint32_t next_id_ = 1;
  std::uint64_t next_stamp_ = 1;
  std::map<std::tuple<CoreType, unsigned, unsigned, unsigned, unsigned>, CoresId> cores_;
  std::map<std::pair<std::uint64_t, SetIndex>, Registered> programs_;
  std::map<std::uint64_t, std::vector<SlotIndex>> kernels_;
  std::map<std::uint64_t, std::pair<SlotIndex, Launches>> workloads_, traces_;
  // What a late reader finds beside the catalog.
  std::map<SlotIndex, Record> table_;
  std::map<ListId, std::vector<TraceMember>> members_;
  std::optional<RingManagerRecord> ring_manager_;
};

}  // namespace ttmem::ledger
