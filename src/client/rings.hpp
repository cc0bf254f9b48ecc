// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Ring managers: the state of the kernel-config rings, kept in the segment under a lock of each
// manager. Observed managers follow the runtime's own calls; the others replay its rules.
#pragma once

#include <cstdint>

#include "client/book.hpp"
#include "client/devices.hpp"
#include "client/ring_contents.hpp"
#include "client/workloads.hpp"
#include "segment/ring_rules.hpp"

namespace ttmem::client {

struct RingState {
  ShortLock lock;
  bool open;
  bool has_saved;
  RingContents contents[segment::kMaxRings];
  segment::Ring saved[segment::kMaxRings];
};

class Rings {
 public:
  bool open(Book& book, Devices& devices, Workloads& workloads);
  void give_back() { states_.give_back(); }

  ttmem_ring_manager_t opened(ttmem_set_t set, std::uint32_t queue, std::uint32_t sub_device,
                              const ttmem_ring* rings, std::uint32_t count, bool observed);
  void freed(ttmem_ring_manager_t id, std::uint32_t sync);
  void launched(ttmem_ring_manager_t id, const ttmem_ring_launch& launch);
  void filled(ttmem_ring_manager_t id, std::uint32_t sync);
  void reset(ttmem_ring_manager_t id);
  void saved(ttmem_ring_manager_t id);
  void restored(ttmem_ring_manager_t id);
  void simulated(ttmem_ring_manager_t id, ttmem_workload_t workload, const std::uint32_t* bytes,
                 std::uint32_t count, std::uint32_t workers, bool first);
  void closed(ttmem_ring_manager_t id);

 private:
  segment::RingManager& record(std::uint32_t id) const;
  std::uint32_t free_record();
  // Runs use(manager, state) under the manager's lock; what readers see must stay as it is.
  template <class Use>
  void use(ttmem_ring_manager_t id, Use use);
  // Runs change(manager, state) under the manager's lock, as one change of its record.
  template <class Change>
  void change(ttmem_ring_manager_t id, Change change);
  std::uint64_t id_of(ttmem_workload_t handle) const;
  // Writes a plan into the contents: counts evictions, and says whether it was a reload.
  bool write(ttmem_ring_manager_t id, segment::RingManager& manager, RingState& state,
             const segment::RingPlan& plan, ttmem_workload_t workload);
  void note_reload(const segment::RingManager& manager, ttmem_workload_t workload);

  Book* book_ = nullptr;
  Devices* devices_ = nullptr;
  Workloads* workloads_ = nullptr;
  PrivateArray<RingState> states_;
};

}  // namespace ttmem::client
