// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Chips that do not exist, declared through the public calls: Wormhole B0 with 8x10 Tensix workers,
// 16 ethernet and 2 dispatch cores, opened as one mesh with one allocator.
// Programs on them: the two system programs of every scenario, and the pieces of an application.
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>
#include <vector>

namespace ttmem::cli {

inline constexpr std::uint32_t kDemoGridX = 8, kDemoGridY = 10;
inline constexpr std::uint32_t kDemoWorkers = kDemoGridX * kDemoGridY;
inline constexpr std::uint32_t kDemoEthernetCores = 16;
inline constexpr std::uint32_t kDemoDispatchCores = 2;

inline constexpr std::uint32_t kDemoL1Bytes = 1'499'136;
inline constexpr std::uint32_t kDemoRingBase = 35'008;
inline constexpr std::uint32_t kDemoRingBytes = 70'656;
inline constexpr std::uint32_t kDemoUnreserved = kDemoRingBase + kDemoRingBytes;

inline constexpr std::uint32_t kDemoDramBanks = 12;
inline constexpr std::uint64_t kDemoDramBase = 1'048'640;
inline constexpr std::uint64_t kDemoDramBankBytes = 1'072'693'184;

// What is taken from the bottom of DRAM and the top of L1 for regions of their own.
struct DemoRegions {
  std::uint64_t l1_small_bytes = 0;  // in each core
  std::uint64_t trace_bytes = 0;     // in each DRAM bank
};

struct DemoMesh {
  ttmem_set_t set = 0;
  ttmem_allocator_t allocator = 0;
  ttmem_ring_manager_t ring = 0;
  ttmem_cores_t workers = 0, ethernet = 0, dispatch = 0;
  std::uint64_t l1_end = 0;  // one past the L1 that buffers may take
};

// Opens `devices` chips and describes this process. The same chips in every process.
DemoMesh open_demo_mesh(std::uint32_t devices, const DemoRegions& regions);

// Interned text; "" is none.
ttmem_string_t demo_string(const char* text);

// ---- programs -----------------------------------------------------------------------------------

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
