// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The table of one process as it was before the event that is being told. To tell what an event
// means one must know what it replaced, and which kernels and ranges belong to a program then.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "collect/segment_source.hpp"
#include "ledger/event.hpp"
#include "segment/format.hpp"
#include "segment/reader.hpp"
#include "segment/reader_events.hpp"

namespace ttmem::collect {

// What a program slot adds to the totals of each device of its set.
struct Contribution {
  std::uint64_t footprint = 0;  // of loaded kernels
  std::uint64_t l1 = 0;         // size x cores of its ranges
  friend bool operator==(const Contribution&, const Contribution&) = default;
};

class SlotShadow {
 public:
  explicit SlotShadow(const SegmentSource& source) : source_(source), reader_(source.reader()) {}

  // Takes over a table as it is after `run`, and goes back to the moment before it. What stood in a
  // slot is known from the run itself: a release still carries what was released.
  void rewind(const std::vector<segment::Payload>& table, const segment::EventRun& run);

  // The slot as it stands; then sets it.
  segment::Payload at(std::uint32_t slot) const;
  void set(std::uint32_t slot, const segment::Payload& payload);

  // As if the program's slot held `program`.
  Contribution contribution(const segment::Payload& program) const;
  std::vector<ledger::EventKernel> kernels(std::uint64_t program) const;
  // Ticks of the first dispatch of a workload by its id; 0 = not known.
  std::uint64_t first_dispatch(std::uint64_t workload) const;
  std::uint64_t live_buffers() const { return live_buffers_; }

  // Calls visit(payload) for every live program slot.
  template <typename Visit>
  void for_each_program(Visit&& visit) const {
    for (const auto& [id, parts] : programs_) {
      for (const std::uint32_t slot : parts.programs) visit(slots_[slot]);
    }
  }

 private:
  struct Parts {
    std::set<std::uint32_t> programs, kernels, ranges;
    bool empty() const { return programs.empty() && kernels.empty() && ranges.empty(); }
  };
  void index(std::uint32_t slot, bool add);
  segment::Payload before(const segment::Payload& first, std::uint64_t floor) const;
  std::uint32_t core_count(std::uint32_t blob) const;

  const SegmentSource& source_;
  const segment::Reader& reader_;
  std::vector<segment::Payload> slots_;
  std::unordered_map<std::uint64_t, Parts> programs_;
  std::unordered_map<std::uint64_t, std::uint32_t> workloads_;
  std::uint64_t live_buffers_ = 0;
};

}  // namespace ttmem::collect
