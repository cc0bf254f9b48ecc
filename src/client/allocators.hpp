// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <cstdint>

#include "client/buffers.hpp"
#include "client/devices.hpp"
#include "client/segment_writer.hpp"

namespace ttmem::client {

// The allocators of a process: geometry of each memory space, audits, and their end. When all
// records are in use, the one that was closed longest ago is used again.
class Allocators {
 public:
  void open(SegmentWriter& writer, Devices& devices, Buffers& buffers);

  ttmem_allocator_t opened(const ttmem_allocator_info& info);
  void resized(ttmem_allocator_t id, const ttmem_space_info& space);
  void cleared(ttmem_allocator_t id);
  void closed(ttmem_allocator_t id);
  void audited(ttmem_allocator_t id, std::uint32_t space, std::uint64_t ours, std::uint64_t theirs);

 private:
  segment::Allocator& record(std::uint16_t id) const;
  AllocatorState* live(ttmem_allocator_t id);
  std::uint16_t free_record();
  std::uint32_t intern_bank_cores(const ttmem_space_info& info);
  PeakMask peaks_of(const DeviceList& devices);
  void resize(AllocatorState& state, segment::Space& space, const ttmem_space_info& info,
              std::uint32_t bank_cores);

  SegmentWriter* writer_ = nullptr;
  Devices* devices_ = nullptr;
  Buffers* buffers_ = nullptr;
};

}  // namespace ttmem::client
