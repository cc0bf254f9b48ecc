// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Programs. A program is known by its id and stands on one or more device sets (placements); its
// kernels belong to the id, its L1 ranges to the placement. Several slots, one commit: the slot of
// the placement is written last and released first, and its generation chooses the ranges.
//
// All of this is the cold path: the calls take the gate, and what other parts use expects it.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/atomic_words.hpp"
#include "client/devices.hpp"
#include "client/private_memory.hpp"
#include "client/segment_writer.hpp"
#include "segment/format.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

// The peak of program L1: per device, the sum over cores of the largest program L1 that was ever
// dispatched there. It changes only when a program is loaded, so it is kept here, not by readers.
class ProgramL1 {
 public:
  bool open();
  void give_back() { cores_.give_back(); }

  // One program: begin, add its ranges, then merge it into each of its devices.
  void begin();
  void add(std::uint32_t core_type, const ttmem_core_range& cores, std::uint64_t bytes);
  void add_unknown_core(std::uint64_t bytes);  // counted as one core
  // Returns the device's new sum.
  std::uint64_t merge(std::uint16_t device);

 private:
  // Bytes by core of one core type. A core beyond the grid shares the last place.
  struct Cores {
    static constexpr std::uint32_t kSide = 32;
    static constexpr std::uint32_t kElsewhere = kSide * kSide - 1;
    std::uint32_t bytes[kSide * kSide];
  };
  Cores* of(std::uint16_t device, std::uint32_t core_type);

  PrivateArray<Cores> cores_;  // the program's own, one per core type, then those of devices
  std::uint32_t used_ = 0;
  std::uint16_t place_[segment::kMaxDevices][segment::kCoreTypes] = {};  // in cores_; 0 = none yet
  std::uint64_t sum_[segment::kMaxDevices] = {};
  bool touched_[segment::kCoreTypes] = {};
};

// What a workload and its members share.
struct Membership {
  std::uint64_t workload_id;
  std::uint32_t first;  // placement; the others through next_of_workload
  // The workload's handle while every member is loaded, else 0: then a dispatch takes no lock.
  std::atomic<std::uint64_t> hot;
};

struct Program {
  std::uint32_t next;
  std::uint32_t first_placement;
  std::uint64_t id;
  std::uint64_t footprint;  // packed bytes x cores, over its kernels
  std::uint32_t kernels;    // first slot; the others through Store::link
  std::uint32_t kernel_count;
};

struct Placement {
  std::uint32_t next;
  std::uint32_t program;
  std::uint32_t next_of_program;
  std::uint32_t next_of_workload;
  Membership* membership;  // null: in no workload
  std::uint32_t slot;
  std::uint32_t ranges;  // first slot; the others through Store::link
  std::uint32_t generation;
  std::uint32_t traces;   // live traces that have it as a member
  std::uint32_t seen_by;  // serial of the trace that saw it last
  std::uint16_t set;
  bool counts;  // its kernels count when it is loaded: neither estimated nor held
  bool loaded;
  bool live;
};

class Programs {
 public:
  bool open(SegmentWriter& writer, Devices& devices);
  void give_back() {
    programs_.give_back();
    placements_.give_back();
    ids_.give_back();
    program_l1_.give_back();
  }

  void registered(const ttmem_program& info, ttmem_origin_t origin);
  void ranges_replaced(std::uint64_t id, ttmem_set_t set, const ttmem_range* ranges,
                       std::uint32_t count);
  void config_sized(std::uint64_t id, ttmem_set_t set, const std::uint32_t* config_bytes);
  void released(std::uint64_t id);
  void released_on(std::uint64_t id, ttmem_set_t set);

  // ---- for the other parts, under the gate ---------------------------------------------------

  Placement& operator[](std::uint32_t placement) const { return placements_[placement]; }
  std::uint64_t id_of(const Placement& placement) const { return programs_[placement.program].id; }
  std::uint32_t find(std::uint64_t id, ttmem_set_t set) const;  // placement; 0 = none

  void join(Placement& placement, Membership& membership, ttmem_origin_t origin);
  void leave(Placement& placement);

  void load(Placement& placement);
  void unload_on(ttmem_device_t device);

  // A live trace has the placement: it stays when its owner releases it.
  void hold(Placement& placement) { ++placement.traces; }
  void let_go(std::uint32_t placement);

  // The ranges of a placement, for a failure's picture: calls each(slot).
  template <class Each>
  void for_each_range(const Placement& placement, Each each) const {
    for (std::uint32_t slot = placement.ranges; slot != segment::kNoSlot;
         slot = writer_->store.link(slot)) {
      each(slot);
    }
  }
  std::uint32_t used() const { return placements_.used(); }

 private:
  std::uint32_t find_program(std::uint64_t id) const;
  std::uint32_t program_for(const ttmem_program& info);
  std::uint32_t placement_for(std::uint32_t program, ttmem_set_t set);
  Placement* expect(std::uint64_t id, ttmem_set_t set);

  bool has_kernels(const Program& program, const ttmem_program& info) const;
  bool replace_kernels(Program& program, const ttmem_program& info);
  bool write_ranges(const Program& program, std::uint16_t set, std::uint32_t generation,
                    const ttmem_range* ranges, std::uint32_t count, std::uint32_t* first);
  bool write_chain(std::uint32_t* first, const segment::Payload& payload);
  void release_chain(std::uint32_t* first);

  void end(std::uint32_t placement);
  void release_placement(std::uint32_t placement);
  void release_if_empty(std::uint32_t program);
  void unload(Placement& placement);
  void raise_program_l1(const Placement& placement);
  void unlink(Placement& placement);
  // Changes the placement's slot in one event.
  template <class Change>
  void change(const Placement& placement, Change change) {
    const LockGuard guard(writer_->store.lock);
    segment::Payload payload = load_payload(writer_->store.slot(placement.slot).payload);
    change(payload);
    writer_->store.commit(placement.slot, payload);
  }

  SegmentWriter* writer_ = nullptr;
  Devices* devices_ = nullptr;
  PrivatePool<Program> programs_;
  PrivatePool<Placement> placements_;
  SlotIndex ids_;
  ProgramL1 program_l1_;
  std::uint32_t generation_ = 0;
};

}  // namespace ttmem::client
