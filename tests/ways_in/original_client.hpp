// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The declarations of the original's client. What includes this stands for code that was compiled
// against the original and not compiled again: it sees nothing of ours.
#pragma once

#include <cstdint>

namespace tt::tt_metal {
class AllocationClient {
 public:
  static void report_allocation(int device_id, uint64_t size, uint8_t buffer_type,
                                uint64_t buffer_id);
  static void report_deallocation(int device_id, uint64_t buffer_id);
  static void report_cb_allocation(int device_id, uint64_t size, uint64_t cb_id);
  static void report_cb_deallocation(int device_id, uint64_t size, uint64_t cb_id);
  static void report_kernel_load(int device_id, uint64_t size, uint64_t kernel_id,
                                 uint8_t kernel_type = 0);
  static void report_kernel_unload(int device_id, uint64_t size, uint64_t kernel_id);
  static bool is_enabled();
};
}  // namespace tt::tt_metal
