/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * A program that reports what it holds, kept as it was compiled: the caller of an older ttmem.h.
 * Each folder beside this file has it with the library of its time; tests/kept/README.md says how
 * one is added. It prints its pid and, for each line of input, allocates 1 MiB more of DRAM.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ttmem/ttmem.h"

static void launch_a_program(ttmem_set_t set) {
  const ttmem_core_range all = {0, 0, 7, 7};
  const ttmem_cores_t cores = ttmem_intern_cores(TTMEM_CORE_TENSIX, &all, 1);
  ttmem_kernel kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.packed_bytes = 4096;
  kernel.cores = cores;
  kernel.name = ttmem_intern_string("reader", 6);
  ttmem_range range;
  memset(&range, 0, sizeof range);
  range.address = 200000;
  range.size = 8192;
  range.cores = cores;
  ttmem_program program;
  memset(&program, 0, sizeof program);
  program.struct_size = sizeof program;
  program.id = 7;
  program.set = set;
  program.kernel_count = 1;
  program.kernels = &kernel;
  program.range_count = 1;
  program.ranges = &range;
  ttmem_program_registered(&program);
  const ttmem_workload_t workload = ttmem_workload_created(1, set);
  ttmem_workload_joined(workload, 7, set);
  ttmem_dispatched(workload, 0, 0, 0);
  ttmem_dispatched(workload, 0, 0, 0);
}

static void allocate(ttmem_allocator_t allocator, uint32_t space, uint64_t id, uint64_t block) {
  ttmem_buffer buffer;
  memset(&buffer, 0, sizeof buffer);
  buffer.id = id;
  buffer.address = 2097152 + id * block;
  buffer.requested = 12 * block;
  buffer.block = block;
  buffer.allocator = allocator;
  buffer.space = (uint8_t)space;
  ttmem_buffer_allocated(&buffer);
}

int main(void) {
  ttmem_device_info device;
  memset(&device, 0, sizeof device);
  device.struct_size = sizeof device;
  device.unique_id = 0x5157;
  device.arch = TTMEM_ARCH_WORMHOLE_B0;
  device.mock = 1;
  device.board = "n150";
  device.grid_x = device.grid_y = 8;
  device.dram_banks = 12;
  device.dram_bank_bytes = 1 << 30;
  const ttmem_device_t opened = ttmem_device_opened(&device);
  ttmem_set_info members;
  memset(&members, 0, sizeof members);
  members.struct_size = sizeof members;
  members.device_count = 1;
  members.devices = &opened;
  const ttmem_set_t set = ttmem_device_set(&members);
  const ttmem_space_info spaces[] = {{TTMEM_SPACE_DRAM, 12, 1048576, 1 << 30, 32, 0, NULL},
                                     {TTMEM_SPACE_L1, 64, 105664, 1393472, 16, 0, NULL}};
  ttmem_allocator_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  info.set = set;
  info.space_count = 2;
  info.spaces = spaces;
  const ttmem_allocator_t allocator = ttmem_allocator_opened(&info);
  allocate(allocator, TTMEM_SPACE_L1, 1, 2048);
  launch_a_program(set);
  char line[64];
  uint64_t id = 2;
  do {
    allocate(allocator, TTMEM_SPACE_DRAM, id++, 1 << 20);
    printf("%d\n", (int)getpid());
    fflush(stdout);
  } while (fgets(line, sizeof line, stdin));
  return 0;
}
