// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/demo_mesh.hpp"

#include <cstring>
#include <vector>

namespace ttmem::cli {
namespace {

constexpr std::uint64_t kFirstUniqueId = 0xDE30'0000'0000'0000;
constexpr std::uint8_t kNocUnknown = 255;

std::vector<ttmem_core> cores() {
  std::vector<ttmem_core> all;
  const auto add = [&](std::uint32_t x, std::uint32_t y, int role, int type) {
    all.push_back({static_cast<std::uint8_t>(x),
                   static_cast<std::uint8_t>(y),
                   static_cast<std::uint8_t>(role),
                   static_cast<std::uint8_t>(type),
                   kNocUnknown,
                   kNocUnknown,
                   {}});
  };
  for (std::uint32_t i = 0; i < kDemoWorkers; ++i) {
    add(i % kDemoGridX, i / kDemoGridX, TTMEM_ROLE_WORKER, TTMEM_CORE_TENSIX);
  }
  for (std::uint32_t i = 0; i < kDemoEthernetCores; ++i) {
    add(0, i, TTMEM_ROLE_ACTIVE_ETH, TTMEM_CORE_ACTIVE_ETH);
  }
  for (std::uint32_t i = 0; i < kDemoDispatchCores; ++i) {
    add(i, 0, TTMEM_ROLE_DISPATCH, TTMEM_CORE_DISPATCH);
  }
  return all;
}

ttmem_device_t open_chip(std::uint32_t index, const std::vector<ttmem_core>& all) {
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.metal_id = static_cast<std::int32_t>(index);
  info.unique_id = kFirstUniqueId + index;
  info.arch = TTMEM_ARCH_WORMHOLE_B0;
  info.mock = 1;
  info.board = "demo";
  info.grid_x = kDemoGridX;
  info.grid_y = kDemoGridY;
  info.dram_banks = kDemoDramBanks;
  info.dram_bank_bytes = kDemoDramBankBytes;
  info.core_count = static_cast<std::uint32_t>(all.size());
  info.cores = all.data();
  info.geometry[TTMEM_CORE_TENSIX] = {kDemoL1Bytes, kDemoRingBase, kDemoRingBase, kDemoRingBytes,
                                      kDemoUnreserved};
  info.geometry[TTMEM_CORE_ACTIVE_ETH] = {262'144, 258'336, 258'336, 640, 258'976};
  info.geometry[TTMEM_CORE_DISPATCH] = info.geometry[TTMEM_CORE_TENSIX];
  return ttmem_device_opened(&info);
}

ttmem_set_t open_chips(std::uint32_t devices) {
  const std::vector<ttmem_core> all = cores();
  std::vector<ttmem_device_t> chips;
  for (std::uint32_t i = 0; i < devices; ++i) chips.push_back(open_chip(i, all));
  ttmem_set_info info{};
  info.struct_size = sizeof info;
  info.device_count = devices;
  info.devices = chips.data();
  info.rows = 1;
  info.columns = static_cast<std::uint16_t>(devices);
  return ttmem_device_set(&info);
}

ttmem_allocator_t open_allocator(ttmem_set_t set, const DemoRegions& regions) {
  std::vector<ttmem_core_range> bank_cores;
  for (std::uint32_t i = 0; i < kDemoWorkers; ++i) {
    const auto x = static_cast<std::uint8_t>(i % kDemoGridX);
    const auto y = static_cast<std::uint8_t>(i / kDemoGridX);
    bank_cores.push_back({x, y, x, y});
  }
  const std::uint64_t l1_end = kDemoL1Bytes - regions.l1_small_bytes;
  const std::uint64_t dram_end = kDemoDramBase + kDemoDramBankBytes - regions.trace_bytes;
  std::vector<ttmem_space_info> spaces = {
      {TTMEM_SPACE_DRAM, kDemoDramBanks, kDemoDramBase, dram_end - kDemoDramBase, 32, 0, nullptr},
      {TTMEM_SPACE_L1, kDemoWorkers, kDemoUnreserved, l1_end - kDemoUnreserved, 16, 0,
       bank_cores.data()}};
  if (regions.l1_small_bytes > 0) {
    spaces.push_back({TTMEM_SPACE_L1_SMALL, kDemoWorkers, l1_end, regions.l1_small_bytes, 16, 0,
                      bank_cores.data()});
  }
  if (regions.trace_bytes > 0) {
    spaces.push_back(
        {TTMEM_SPACE_TRACE, kDemoDramBanks, dram_end, regions.trace_bytes, 32, 0, nullptr});
  }
  ttmem_allocator_info info{};
  info.struct_size = sizeof info;
  info.set = set;
  info.space_count = static_cast<std::uint16_t>(spaces.size());
  info.spaces = spaces.data();
  return ttmem_allocator_opened(&info);
}

void describe_process() {
  ttmem_process_info info{};
  info.struct_size = sizeof info;
  info.source = TTMEM_SOURCE_API;
  ttmem_process_described(&info);
}

ttmem_cores_t rectangle(std::uint32_t type, std::uint32_t columns, std::uint32_t rows) {
  const ttmem_core_range range{0, 0, static_cast<std::uint8_t>(columns - 1),
                               static_cast<std::uint8_t>(rows - 1)};
  return ttmem_intern_cores(type, &range, 1);
}

}  // namespace

ttmem_string_t demo_string(const char* text) {
  return ttmem_intern_string(text, std::strlen(text));
}

DemoMesh open_demo_mesh(std::uint32_t devices, const DemoRegions& regions) {
  describe_process();
  DemoMesh mesh;
  mesh.set = open_chips(devices);
  mesh.allocator = open_allocator(mesh.set, regions);
  const ttmem_ring ring{TTMEM_CORE_TENSIX, kDemoRingBase, kDemoRingBytes};
  mesh.ring = ttmem_ring_manager_opened(mesh.set, 0, 0, &ring, 1, 0);
  mesh.workers = rectangle(TTMEM_CORE_TENSIX, kDemoGridX, kDemoGridY);
  mesh.ethernet = rectangle(TTMEM_CORE_ACTIVE_ETH, 1, kDemoEthernetCores);
  mesh.dispatch = rectangle(TTMEM_CORE_DISPATCH, kDemoDispatchCores, 1);
  mesh.l1_end = kDemoL1Bytes - regions.l1_small_bytes;
  return mesh;
}

}  // namespace ttmem::cli
