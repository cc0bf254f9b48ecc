// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/demo_programs.hpp"

namespace ttmem::cli {
namespace {

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
