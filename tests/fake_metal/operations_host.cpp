// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A C++ program that uses the fake runtime as ttnn's operations use the real one: allocate what the
// operation writes to, then enqueue from a function template of the operation. After each step it
// prints the step's name and waits for a line.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "fake_metal.hpp"

namespace ttnn::device_operation {
template <typename Operation>
struct MeshDeviceOperationAdapter {};
}  // namespace ttnn::device_operation

namespace {

namespace metal = tt::tt_metal;
namespace distributed = tt::tt_metal::distributed;

void step(const char* name) {
  std::cout << name << std::endl;
  std::string line;
  std::getline(std::cin, line);
}

using Buffers = std::vector<std::unique_ptr<metal::Buffer>>;

struct Memory {
  metal::Device chip{nullptr, nullptr, 0, 1, 0, 0, {}, false, 0, 0, 0};
  metal::AllocatorImpl allocator;
  distributed::MeshDevice mesh{&allocator};
  distributed::FDMeshCommandQueue queue{&mesh, 0};

  [[gnu::noinline]] std::unique_ptr<metal::Buffer> buffer(std::size_t bytes) {
    return std::make_unique<metal::Buffer>(&mesh, &allocator, bytes, metal::BufferType::DRAM);
  }
};

}  // namespace

struct AddOperation {};
struct SplitOperation {};

// The name of the operation is in the symbol of this function, as in ttnn.
template <typename Adapter>
[[gnu::noinline]] void enqueue_mesh_workload(distributed::MeshCommandQueue& queue,
                                             distributed::MeshWorkload& workload) {
  static volatile int launches = 0;  // else the compiler makes one function of all of them
  distributed::EnqueueMeshWorkload(queue, workload, false);
  launches = launches + 1;
}

template <typename Operation>
[[gnu::noinline]] void launch(Memory& memory, Buffers& results, std::size_t bytes, int count,
                              std::size_t kernel_bytes = 2000) {
  distributed::MeshWorkload work;
  work.impl->add_program({{0, 0}, {0, 0}},
                         metal::Program(std::make_shared<metal::detail::ProgramImpl>(
                             kernel_bytes, "kernels/add.cpp", 0)));
  for (int i = 0; i < count; ++i) results.push_back(memory.buffer(bytes));  // results
  enqueue_mesh_workload<ttnn::device_operation::MeshDeviceOperationAdapter<Operation>>(memory.queue,
                                                                                       work);
}

int main() {
  Memory memory;
  Buffers kept;
  kept.push_back(memory.buffer(1024));  // a weight
  memory.queue.enqueue_write_mesh_buffer(nullptr, nullptr, false);
  launch<AddOperation>(memory, kept, 2048, 1);
  step("written and launched");
  launch<SplitOperation>(memory, kept, 4096, 3);  // caller of launch
  step("three results");
  try {
    launch<AddOperation>(memory, kept, 8192, 1, 80000);
  } catch (const std::exception&) {
    step("a launch that fails");
  }
  kept.push_back(memory.buffer(16384));
  step("nothing followed");
  return 0;
}
