// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/demo_mesh.hpp"

#include <cstring>
#include <vector>

namespace ttmem::cli {
namespace {

// ---- chips --------------------------------------------------------------------------------------

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

// ---- programs -----------------------------------------------------------------------------------

ttmem_kernel kernel_of(const DemoKernel& plan) {
  ttmem_kernel kernel{};
  kernel.name = demo_string(plan.name);
  kernel.source = demo_string(plan.source);
  kernel.hash = plan.bytes;
  kernel.cores = plan.cores;
  kernel.packed_bytes = plan.bytes;
  kernel.text_bytes = plan.bytes;
  kernel.processor = 255;
  kernel.core_type = static_cast<std::uint8_t>(plan.core_type);
  return kernel;
}

void load(const DemoMesh& mesh, const DemoProgram& program) {
  ttmem_dispatched(register_program(mesh, program), 0, 0, TTMEM_DISPATCH_BUILT);
}

}  // namespace

// ---- chips --------------------------------------------------------------------------------------

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

// ---- programs -----------------------------------------------------------------------------------

ttmem_workload_t register_program(const DemoMesh& mesh, const DemoProgram& plan) {
  std::vector<ttmem_kernel> kernels;
  for (const DemoKernel& kernel : plan.kernels) kernels.push_back(kernel_of(kernel));
  ttmem_program program{};
  program.struct_size = sizeof program;
  program.type = static_cast<std::uint8_t>(plan.type);
  program.set = mesh.set;
  program.id = plan.id;
  program.workload = ttmem_workload_created(plan.id, mesh.set);
  program.name = demo_string(plan.name);
  program.config_bytes[TTMEM_CORE_TENSIX] = plan.config_bytes;
  program.kernel_count = static_cast<std::uint32_t>(kernels.size());
  program.kernels = kernels.data();
  program.range_count = static_cast<std::uint32_t>(plan.ranges.size());
  program.ranges = plan.ranges.data();
  ttmem_program_registered(&program);
  return program.workload;
}

ttmem_range circular_buffer(ttmem_cores_t cores, std::uint8_t index, std::uint64_t address,
                            std::uint64_t size) {
  ttmem_range range{};
  range.address = address;
  range.size = size;
  range.cores = cores;
  range.page_bytes = 1024;
  range.part = TTMEM_PART_CB;
  range.index = index;
  return range;
}

void load_system_programs(const DemoMesh& mesh) {
  DemoProgram fabric;
  fabric.id = 1;
  fabric.type = TTMEM_KERNEL_FABRIC;
  fabric.name = "fabric_router";
  fabric.kernels = {
      {"fabric_router", "kernels/fabric_router.cpp", 57'344, TTMEM_CORE_ACTIVE_ETH, mesh.ethernet}};
  load(mesh, fabric);

  DemoProgram dispatch;
  dispatch.id = 2;
  dispatch.type = TTMEM_KERNEL_DISPATCH;
  dispatch.name = "cq_dispatch";
  dispatch.kernels = {
      {"cq_dispatch", "kernels/cq_dispatch.cpp", 47'104, TTMEM_CORE_DISPATCH, mesh.dispatch}};
  load(mesh, dispatch);
}

}  // namespace ttmem::cli
