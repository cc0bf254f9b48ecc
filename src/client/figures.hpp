// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Taken bytes and peaks by device, in the segment's counters, and the watermarks that remember the
// peak of a region. A call on 32 devices walks neighbouring words.
#pragma once

#include <cstdint>

#include "client/store.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

struct DeviceList {
  const std::uint16_t* devices;  // in mesh order
  std::uint16_t count;
  std::uint16_t first;
  bool contiguous;  // first, first + 1, ...

  bool contains(std::uint16_t device) const;
};

class Figures {
 public:
  void open(Store& store);

  // Under the lock. Peaks are raised here, before the caller commits the slot.
  void raise(std::uint32_t figure, const DeviceList& list, std::uint64_t amount);
  void lower(std::uint32_t figure, const DeviceList& list, std::uint64_t amount);
  void set_program_l1(std::uint16_t device, std::uint64_t bytes);

  // Under the gate; they take the lock themselves.
  std::uint32_t open_watermark(std::uint32_t name);
  void close_watermark(std::uint32_t number);
  bool read_watermark(std::uint32_t number, std::uint16_t device, std::uint32_t figure,
                      ttmem_figures* out);
  void read(std::uint16_t device, std::uint32_t figure, ttmem_figures* out);

 private:
  using Row = std::uint64_t (&)[segment::kMaxDevices];
  segment::Watermark& watermark(std::uint32_t number) const;
  void raise_watermarks(std::uint32_t figure, const DeviceList& list);

  Store* store_ = nullptr;
  std::uint32_t open_watermarks_ = 0;  // a bit each
};

}  // namespace ttmem::client
