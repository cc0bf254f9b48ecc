// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Devices to record on: what programs tell about an n150 and its memory, through the calls of
// ttmem.h.
#pragma once

#include <cstdint>
#include <span>

#include "ttmem/ttmem.h"

namespace ttmem::support {

inline ttmem_device_info device_info(std::uint64_t unique_id) {
  ttmem_device_info info = {};
  info.struct_size = sizeof info;
  info.metal_id = static_cast<std::int32_t>(unique_id);
  info.unique_id = unique_id;
  info.arch = TTMEM_ARCH_WORMHOLE_B0;
  info.mock = 1;
  info.board = "n150";
  info.grid_x = 8;
  info.grid_y = 8;
  info.dram_banks = 12;
  return info;
}

// These two point at what they are given.
inline ttmem_set_info set_info(std::span<const ttmem_device_t> devices) {
  ttmem_set_info info = {};
  info.struct_size = sizeof info;
  info.device_count = static_cast<std::uint32_t>(devices.size());
  info.devices = devices.data();
  return info;
}

inline ttmem_allocator_info allocator_info(ttmem_set_t set,
                                           std::span<const ttmem_space_info> spaces) {
  ttmem_allocator_info info = {};
  info.struct_size = sizeof info;
  info.set = set;
  info.space_count = static_cast<std::uint32_t>(spaces.size());
  info.spaces = spaces.data();
  return info;
}

inline ttmem_device_t open_device(std::uint64_t unique_id = 1) {
  const ttmem_device_info info = device_info(unique_id);
  return ttmem_device_opened(&info);
}

inline ttmem_set_t open_set(std::span<const ttmem_device_t> devices) {
  const ttmem_set_info info = set_info(devices);
  return ttmem_device_set(&info);
}

// Of DRAM alone, 12 banks with more room than any test takes.
inline ttmem_allocator_t open_dram(ttmem_set_t set) {
  const ttmem_space_info dram[] = {{TTMEM_SPACE_DRAM, 12, 0, 1ull << 40, 32, 0, nullptr}};
  const ttmem_allocator_info info = allocator_info(set, dram);
  return ttmem_allocator_opened(&info);
}

inline ttmem_allocator_t open_dram_on(ttmem_device_t device) {
  return open_dram(open_set({&device, 1}));
}

inline void allocate(ttmem_allocator_t allocator, std::uint64_t id, std::uint64_t block = 100) {
  ttmem_buffer buffer = {};
  buffer.id = id;
  buffer.address = id;
  buffer.block = block;
  buffer.requested = block;
  buffer.allocator = allocator;
  ttmem_buffer_allocated(&buffer);
}

}  // namespace ttmem::support
