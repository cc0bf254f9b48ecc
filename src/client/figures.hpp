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
  void raise(std::uint32_t figure, const DeviceList& list, std::uint64_t amount) {
    auto& counters = store_->counters();
    Row taken = counters.taken[figure];
    Row peak = counters.peak[figure];
    if (list.contiguous && list.count < kWide) [[likely]] {  // the list lies elsewhere: no look
      raise_row(taken + list.first, peak + list.first, amount, list.count);
    } else if (list.contiguous) {
      raise_wide_row_(taken + list.first, peak + list.first, amount, list.count);
    } else {
      for (std::uint16_t i = 0; i < list.count; ++i) {
        raise_row(taken + list.devices[i], peak + list.devices[i], amount, 1);
      }
    }
    if (open_watermarks_ != 0) [[unlikely]]
      raise_watermarks(figure, list);
  }
  void lower(std::uint32_t figure, const DeviceList& list, std::uint64_t amount) {
    Row taken = store_->counters().taken[figure];
    if (list.contiguous) [[likely]] {
      for (std::uint16_t i = 0; i < list.count; ++i) taken[list.first + i] -= amount;
    } else {
      for (std::uint16_t i = 0; i < list.count; ++i) taken[list.devices[i]] -= amount;
    }
  }
  void set_program_l1(std::uint16_t device, std::uint64_t bytes);

  // Under the gate; they take the lock themselves.
  std::uint32_t open_watermark(std::uint32_t name);
  void close_watermark(std::uint32_t number);
  bool read_watermark(std::uint32_t number, std::uint16_t device, std::uint32_t figure,
                      ttmem_figures* out);
  // Of devices 1, 2, ...: three words per figure, as ttmem_region_leave tells. How many devices
  // there are; nothing is told if they are more than `devices`.
  std::uint32_t read_watermark(std::uint32_t number, std::uint64_t* out, std::uint32_t devices);
  void read(std::uint16_t device, std::uint32_t figure, ttmem_figures* out);

 private:
  using Row = std::uint64_t (&)[segment::kMaxDevices];
  static constexpr std::uint16_t kWide = 8;  // devices from which on vectors pay
  static void raise_row(std::uint64_t* taken, std::uint64_t* peak, std::uint64_t amount,
                        std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      taken[i] += amount;
      peak[i] = taken[i] > peak[i] ? taken[i] : peak[i];
    }
  }
#if defined(__x86_64__)
  static void raise_row_avx2(std::uint64_t* taken, std::uint64_t* peak, std::uint64_t amount,
                             std::uint32_t count);
#endif
  segment::Watermark& watermark(std::uint32_t number) const;
  void raise_watermarks(std::uint32_t figure, const DeviceList& list);

  Store* store_ = nullptr;
  void (*raise_wide_row_)(std::uint64_t*, std::uint64_t*, std::uint64_t, std::uint32_t) = nullptr;
  std::uint32_t open_watermarks_ = 0;  // a bit each
};

}  // namespace ttmem::client
