// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Programs of the demonstration: the two system programs of every scenario, and the pieces that an
// application is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/demo_mesh.hpp"

namespace ttmem::cli {

struct DemoKernel {
  const char* name = "";
  const char* source = "";
  std::uint32_t bytes = 0;
  std::uint32_t core_type = TTMEM_CORE_TENSIX;
  ttmem_cores_t cores = 0;
};

struct DemoProgram {
  std::uint64_t id = 0;
  int type = TTMEM_KERNEL_APPLICATION;
  const char* name = "";
  std::uint32_t config_bytes = 0;  // in the ring of the workers
  std::vector<DemoKernel> kernels;
  std::vector<ttmem_range> ranges;
};

// Registers it as the only program of a workload of the same id.
ttmem_workload_t register_program(const DemoMesh& mesh, const DemoProgram& program);

// A circular buffer of `size` bytes on each of `cores`.
ttmem_range circular_buffer(ttmem_cores_t cores, std::uint8_t index, std::uint64_t address,
                            std::uint64_t size);

// Fabric: id 1, 57,344 B on 16 ethernet cores. Dispatch: id 2, 47,104 B on 2 dispatch cores.
void load_system_programs(const DemoMesh& mesh);
inline constexpr std::uint64_t kFirstApplicationProgram = 3;

}  // namespace ttmem::cli
