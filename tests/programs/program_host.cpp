// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A tracked program that does as it is told: one command per line on standard input, "ok" after
// each. It opens a made-up Blackhole with 11 x 10 workers and one dispatch core. Commands:
//   program ID BYTES HASH KERNEL_BYTES   on all workers; BYTES of circular buffers, one kernel
//   launch ID | release ID
//   ring ID BYTES                        one launch in the simulated kernel-config ring
//   trace ID MEMBER MEMBER MEMBER | replay ID | end ID
//   buffer ID SPACE ADDRESS BLOCK | free ID SPACE
//   binaries ID BUFFER                   the DRAM buffer that holds a program's kernels
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "../support/devices.hpp"
#include "ttmem/ttmem.h"

namespace {

constexpr std::uint8_t kColumns = 11, kRows = 10;
constexpr std::uint32_t kWorkers = kColumns * kRows;
constexpr std::uint32_t kL1Bytes = 1572864, kRingBase = 40960, kRingBytes = 70656;
constexpr std::uint32_t kProgramBase = kRingBase + kRingBytes, kL1SmallBytes = 32768;
constexpr std::uint8_t kNocUnknown = 255;

std::uint64_t number() {
  std::uint64_t value = 0;
  std::cin >> value;
  return value;
}

ttmem_string_t name(const std::string& text) {
  return ttmem_intern_string(text.data(), text.size());
}

ttmem_set_t open_chip() {
  std::vector<ttmem_core> cores;
  for (std::uint8_t y = 0; y < kRows; ++y) {
    for (std::uint8_t x = 0; x < kColumns; ++x) {
      cores.push_back({x, y, TTMEM_ROLE_WORKER, TTMEM_CORE_TENSIX, kNocUnknown, kNocUnknown, {}});
    }
  }
  cores.push_back({0, kRows, TTMEM_ROLE_DISPATCH, TTMEM_CORE_TENSIX, kNocUnknown, kNocUnknown, {}});
  ttmem_device_info info = {};
  info.struct_size = sizeof info;
  info.unique_id = 1;
  info.arch = TTMEM_ARCH_BLACKHOLE;
  info.mock = 1;
  info.grid_x = kColumns;
  info.grid_y = kRows;
  info.core_count = static_cast<std::uint32_t>(cores.size());
  info.cores = cores.data();
  info.geometry[TTMEM_CORE_TENSIX] = {kL1Bytes, kRingBase, kRingBase, kRingBytes, kProgramBase};
  const ttmem_device_t chip = ttmem_device_opened(&info);
  return ttmem::support::open_set({&chip, 1});
}

ttmem_allocator_t open_allocator(ttmem_set_t set) {
  const std::uint32_t small_base = kL1Bytes - kL1SmallBytes;
  const ttmem_space_info spaces[] = {
      {TTMEM_SPACE_DRAM, 8, 1048704, 4277141376, 64, 0, nullptr},
      {TTMEM_SPACE_L1, kWorkers, kProgramBase, small_base - kProgramBase, 16, 0, nullptr},
      {TTMEM_SPACE_L1_SMALL, kWorkers, small_base, kL1SmallBytes, 16, 0, nullptr}};
  const ttmem_allocator_info info = ttmem::support::allocator_info(set, spaces);
  return ttmem_allocator_opened(&info);
}

class Host {
 public:
  Host() : set_(open_chip()), allocator_(open_allocator(set_)) {
    const ttmem_core_range all = {0, 0, kColumns - 1, kRows - 1};
    workers_ = ttmem_intern_cores(TTMEM_CORE_TENSIX, &all, 1);
    const ttmem_ring ring = {TTMEM_CORE_TENSIX, kRingBase, kRingBytes};
    ring_ = ttmem_ring_manager_opened(set_, 0, 0, &ring, 1, 0);
  }

  bool obey(const std::string& command) {
    if (command == "program") return add_program(number()), true;
    if (command == "launch") return ttmem_dispatched(workloads_[number()], 0, 0, 0), true;
    if (command == "release") return release(number()), true;
    if (command == "ring") return use_ring(number()), true;
    if (command == "trace") return capture(number()), true;
    if (command == "replay") return ttmem_trace_replayed(number()), true;
    if (command == "end") return ttmem_trace_released(number()), true;
    if (command == "buffer") return allocate(number()), true;
    if (command == "free") return free(number()), true;
    if (command == "binaries") return name_binaries(number()), true;
    return false;
  }

 private:
  void add_program(std::uint64_t id) {
    ttmem_range range = {};
    range.address = kProgramBase;
    range.size = number();
    range.cores = workers_;
    ttmem_kernel kernel = {};
    kernel.hash = number();
    kernel.packed_bytes = static_cast<std::uint32_t>(number());
    kernel.cores = workers_;
    ttmem_program program = {};
    program.struct_size = sizeof program;
    program.set = set_;
    program.id = id;
    program.workload = workloads_[id] = ttmem_workload_created(id, set_);
    program.name = name("op" + std::to_string(id));
    program.kernel_count = program.range_count = 1;
    program.kernels = &kernel;
    program.ranges = &range;
    ttmem_program_registered(&program);
  }

  void release(std::uint64_t id) {
    ttmem_program_released(id);
    ttmem_workload_released(workloads_[id]);
  }

  void use_ring(std::uint64_t id) {
    const auto bytes = static_cast<std::uint32_t>(number());
    ttmem_ring_simulated(ring_, workloads_[id], &bytes, 1, kWorkers, 0);
  }

  void capture(std::uint64_t id) {
    ttmem_trace_begun(id, set_, 0);
    for (int i = 0; i < 3; ++i) ttmem_trace_captured(id, workloads_[number()]);
    ttmem_trace_ended(id);
  }

  void allocate(std::uint64_t id) {
    ttmem_buffer buffer = {};
    buffer.id = id;
    buffer.allocator = allocator_;
    buffer.space = static_cast<std::uint8_t>(number());
    buffer.address = number();
    buffer.block = buffer.requested = number();
    ttmem_tag_push(name("tensor" + std::to_string(id)), 0);
    ttmem_buffer_allocated(&buffer);
    ttmem_tag_pop();
  }

  void free(std::uint64_t id) {
    ttmem_buffer_freed(allocator_, static_cast<std::uint32_t>(number()), id);
  }

  void name_binaries(std::uint64_t id) {
    ttmem_workload_binaries(workloads_[id], allocator_, number());
  }

  ttmem_set_t set_;
  ttmem_allocator_t allocator_;
  ttmem_cores_t workers_ = 0;
  ttmem_ring_manager_t ring_ = 0;
  std::map<std::uint64_t, ttmem_workload_t> workloads_;
};

}  // namespace

int main() {
  Host host;
  std::cout << "ok" << std::endl;
  for (std::string command; std::cin >> command;) {
    if (!host.obey(command)) return 2;
    std::cout << "ok" << std::endl;
  }
  return 0;
}
