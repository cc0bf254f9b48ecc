// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/demo_mesh.hpp"
#include "cli/demo_scenarios.hpp"

namespace ttmem::cli {
namespace {

constexpr std::uint32_t kApplicationBytes = 102'400;
constexpr std::uint64_t kPageBytes = 2'048;
// What the application takes in the ring at each launch. Its kernels' footprint never goes there.
constexpr std::uint32_t kApplicationConfigBytes = 14'336;

void run_application(const DemoMesh& mesh) {
  DemoProgram application;
  application.id = kFirstApplicationProgram;
  application.name = "matmul";
  application.config_bytes = kApplicationConfigBytes;
  application.kernels = {
      {"matmul", "kernels/matmul.cpp", kApplicationBytes, TTMEM_CORE_TENSIX, mesh.workers}};
  application.ranges = {circular_buffer(mesh.workers, 0, kDemoUnreserved, 12'288),
                        circular_buffer(mesh.workers, 1, kDemoUnreserved + 12'288, 12'288),
                        circular_buffer(mesh.workers, 16, kDemoUnreserved + 24'576, 3'072)};
  const ttmem_workload_t workload = register_program(mesh, application);
  for (std::uint32_t launch = 0; launch < 2; ++launch) {
    ttmem_ring_simulated(mesh.ring, workload, &kApplicationConfigBytes, 1, kDemoWorkers,
                         launch == 0 ? 1 : 0);
    ttmem_dispatched(workload, 0, 0, 0);
  }
}

// Interleaved over all banks in pages of 2,048 B: the last page of a bank may stay empty.
std::uint64_t block_of(std::uint64_t bytes, std::uint64_t banks) {
  return (bytes / kPageBytes + banks - 1) / banks * kPageBytes;
}

void allocate(const DemoMesh& mesh, ttmem_buffer buffer, const char* operation) {
  ttmem_tag_push(demo_string(operation), 0);
  buffer.allocator = mesh.allocator;
  buffer.layout = TTMEM_LAYOUT_INTERLEAVED;
  ttmem_buffer_allocated(&buffer);
  ttmem_tag_pop();
}

void allocate_buffers(const DemoMesh& mesh) {
  ttmem_buffer dram{};
  dram.id = 1;
  dram.space = TTMEM_SPACE_DRAM;
  dram.address = kDemoDramBase;
  dram.requested = 26'214'400;
  dram.block = block_of(dram.requested, kDemoDramBanks);
  allocate(mesh, dram, "from_torch");

  ttmem_buffer l1{};
  l1.id = 2;
  l1.space = TTMEM_SPACE_L1;
  l1.requested = 1'048'576;
  l1.block = block_of(l1.requested, kDemoWorkers);
  l1.address = mesh.l1_end - l1.block;
  allocate(mesh, l1, "to_memory_config");
}

}  // namespace

void record_seeds(std::uint32_t devices) {
  const DemoMesh mesh = open_demo_mesh(devices, {});
  load_system_programs(mesh);
  allocate_buffers(mesh);
  run_application(mesh);
}

}  // namespace ttmem::cli
