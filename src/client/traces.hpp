// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Traces: programs captured once and replayed without a dispatch. A trace keeps its members: a
// program that its owner releases stays, as held, until the last trace that has it is released.
#pragma once

#include <cstdint>

#include "client/devices.hpp"
#include "client/programs.hpp"
#include "client/segment_writer.hpp"
#include "client/workloads.hpp"

namespace ttmem::client {

struct Trace {
  std::uint32_t next;
  std::uint32_t slot;
  std::uint64_t id;
  std::uint32_t serial;  // marks the placements that it has already
  std::uint32_t first_member;
  std::uint32_t last_member;
  std::uint16_t set;
  bool capturing;
  bool live;
};

struct TraceMember {
  std::uint32_t next;  // of the pool
  std::uint32_t next_of_trace;
  std::uint32_t placement;
};

class Traces {
 public:
  bool open(SegmentWriter& writer, Devices& devices, Programs& programs, Workloads& workloads);
  void give_back() {
    pool_.give_back();
    members_.give_back();
    ids_.give_back();
    blob_.give_back();
  }

  void begun(std::uint64_t id, ttmem_set_t set, std::uint32_t queue, ttmem_origin_t origin = 0);
  void captured(std::uint64_t id, ttmem_workload_t workload);
  void ended(std::uint64_t id);
  void replayed(std::uint64_t id);
  void released(std::uint64_t id);

  // A device was closed: traces on it are gone. Under the gate.
  void end_on(ttmem_device_t device);

 private:
  std::uint32_t find(std::uint64_t id) const;
  Trace* expect(std::uint64_t id);
  void add_member(Trace& trace, std::uint32_t placement);
  std::uint32_t intern_members(const Trace& trace);
  void release(std::uint32_t index);

  SegmentWriter* writer_ = nullptr;
  Devices* devices_ = nullptr;
  Programs* programs_ = nullptr;
  Workloads* workloads_ = nullptr;
  PrivatePool<Trace> pool_;
  PrivatePool<TraceMember> members_;
  SlotIndex ids_;
  PrivateMemory blob_;
  std::uint32_t serial_ = 0;
};

}  // namespace ttmem::client
