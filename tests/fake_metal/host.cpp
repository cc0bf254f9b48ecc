// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Uses the fake runtime as a program uses the real one on silicon. After each step it prints the
// step's name and waits for a line.
//
//   ttmem_fake_host steps            the paths that mock chips skip
//   ttmem_fake_host memory           what changes an allocator, and every kind of program L1
//   ttmem_fake_host throw FUNCTION   one function throws; prints what arrived
//   ttmem_fake_host race             many threads make the first hooked call at once
//   ttmem_fake_host asked            while an allocator is asked, other threads use others

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "fake_metal.hpp"

namespace {

namespace metal = tt::tt_metal;
namespace distributed = tt::tt_metal::distributed;

void step(const char* name) {
  std::cout << name << std::endl;
  std::string line;
  std::getline(std::cin, line);
}

metal::Device open_chip() {
  return metal::Device(nullptr, nullptr, 0, 1, 0, 0, {}, false, 0, 0, 0);
}

distributed::MeshWorkload workload(std::size_t kernel_bytes, std::uint64_t cb_bytes) {
  distributed::MeshWorkload result;
  auto program = std::make_shared<metal::detail::ProgramImpl>(
      kernel_bytes, "kernels/of_" + std::to_string(kernel_bytes) + ".cpp", cb_bytes);
  result.impl->add_program({{0, 0}, {0, 0}}, metal::Program(std::move(program)));
  return result;
}

int play_steps() {
  metal::Device chip = open_chip();
  metal::AllocatorImpl allocator;
  distributed::MeshDevice mesh(&allocator);
  metal::Buffer first(&mesh, &allocator, 4096, metal::BufferType::DRAM);
  step("open");
  metal::DispatchKernelInitializer dispatch;
  dispatch.device = &chip;
  dispatch.compile_dispatch_kernels();
  chip.compile_fabric();
  step("system kernels");
  distributed::FDMeshCommandQueue queue(&mesh, 0);
  auto a = workload(20000, 8192);
  distributed::EnqueueMeshWorkload(queue, a, false);
  step("first load");
  distributed::EnqueueMeshWorkload(queue, a, false);
  step("cache hit");
  auto b = workload(30000, 4096);
  distributed::EnqueueMeshWorkload(queue, b, false);
  step("second program");
  queue.record_begin({7}, nullptr);
  distributed::EnqueueMeshWorkload(queue, a, false);
  distributed::EnqueueMeshWorkload(queue, b, false);
  queue.record_end();
  step("captured");
  queue.enqueue_trace({7}, false);
  queue.enqueue_trace({7}, false);
  step("replayed twice");
  mesh.release_mesh_trace({7});
  distributed::MeshDeviceImpl implementation(&mesh, &queue);
  const metal::Buffer kept(&mesh, &allocator, 8192, metal::BufferType::TRACE);
  queue.record_begin({9}, nullptr);
  implementation.trace_bytes = 20480;
  try {
    implementation.end_mesh_trace(0, {9});
  } catch (const std::exception&) {
    step("too large for the trace region");
  }
  auto huge = workload(80000, 0);
  try {
    distributed::EnqueueMeshWorkload(queue, huge, false);
  } catch (const std::exception&) {
    step("too large for the ring");
  }
  // Collective operations of ttnn bring this kernel of the fabric with them.
  metal::Program alone(std::make_shared<metal::detail::ProgramImpl>(
      1000, "tt_metal/fabric/impl/kernels/tt_fabric_mux.cpp", 0));
  alone.impl_->compile(&chip);
  metal::slow_dispatch::ConfigureDeviceWithProgram(chip, alone, false);
  metal::slow_dispatch::ConfigureDeviceWithProgram(chip, alone, false);
  step("slow launches");
  metal::detail::ProgramImpl strange(500, "tt_metal/impl/dispatch/kernels/cq_prefetch.cpp", 0);
  strange.compile(&chip);
  step("dispatch kernel outside its scope");
  queue.record_begin({8}, nullptr);
  distributed::MeshDeviceImpl().close_impl(&mesh);
  // Another mesh whose queue has got the same place in memory.
  distributed::EnqueueMeshWorkload(queue, b, false);
  step("closed within a capture");
  chip.close();
  step("closed");
  return 0;
}

/// What changes an allocator, and every kind of L1 of a program.
int play_memory() {
  metal::Device chip = open_chip();
  metal::AllocatorImpl allocator;
  distributed::MeshDevice mesh(&allocator);
  using metal::BufferType;
  using metal::Placement;
  {
    metal::Buffer sharded(&mesh, &allocator, 8192, BufferType::L1, Placement::SHARDED);
    step("sharded");
    metal::Buffer per_core(&mesh, &allocator, 8192, BufferType::L1, Placement::PER_CORE);
    step("per core");
  }
  step("freed");
  allocator.shrink_allocator_size(BufferType::L1, 65536, true);
  step("shrunk");
  allocator.reset_allocator_size(BufferType::L1);
  step("reset");
  distributed::FDMeshCommandQueue queue(&mesh, 0);
  auto work = workload(20000, 8192);
  auto& program = *work.impl->programs.front().impl_;
  program.dataflow_bytes = 4096;
  program.scratchpad_bytes = 192;
  distributed::EnqueueMeshWorkload(queue, work, false);
  step("program L1 of every kind");
  distributed::MeshDeviceImpl().reshape({});
  metal::Buffer dram(&mesh, &allocator, 4096, BufferType::DRAM);
  step("reshaped");
  std::optional<metal::Buffer> cleared(std::in_place, &mesh, &allocator, 4096, BufferType::L1);
  allocator.deallocate_buffers();
  step("cleared");
  cleared.reset();
  step("freed after the clear");
  allocator.override_state({1024});
  step("state overridden");
  return 0;
}

/// Calls everything that can be told to throw.
void call_everything() {
  metal::Device chip = open_chip();
  metal::AllocatorImpl allocator;
  distributed::MeshDevice mesh(&allocator);
  metal::Buffer buffer(&mesh, &allocator, 4096, metal::BufferType::DRAM);
  allocator.shrink_allocator_size(metal::BufferType::L1, 1024, true);
  allocator.reset_allocator_size(metal::BufferType::L1);
  allocator.override_state({0});
  allocator.deallocate_buffers();
  distributed::MeshDeviceImpl().reshape({});
  metal::DispatchKernelInitializer dispatch;
  dispatch.device = &chip;
  dispatch.compile_dispatch_kernels();
  chip.compile_fabric();
  chip.configure_fabric();
  chip.configure_command_queue_programs(nullptr);
  distributed::FDMeshCommandQueue queue(&mesh, 0);
  auto work = workload(20000, 8192);
  work.impl->programs.front().impl_->dataflow_bytes = 4096;
  queue.enqueue_write_mesh_buffer(nullptr, nullptr, false);
  distributed::EnqueueMeshWorkload(queue, work, false);
  queue.record_begin({7}, nullptr);
  distributed::MeshDeviceImpl(&mesh, &queue).end_mesh_trace(0, {7});
  queue.enqueue_trace({7}, false);
  metal::Program alone(std::make_shared<metal::detail::ProgramImpl>(1000, "alone.cpp", 0));
  metal::slow_dispatch::ConfigureDeviceWithProgram(chip, alone, false);
  mesh.release_mesh_trace({7});
  distributed::MeshDeviceImpl().close_impl(&mesh);
  chip.close();
}

int play_throw(const char* function) {
  fake::throw_in = function;
  try {
    call_everything();
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
    return 0;
  }
  std::cout << "nothing was thrown" << std::endl;
  return 1;
}

int play_race() {
  constexpr int kThreads = 16;
  metal::AllocatorImpl allocator;
  distributed::MeshDevice mesh(&allocator);
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      waiting.fetch_sub(1);
      while (waiting.load() > 0) std::this_thread::yield();
      metal::Inspector::program_destroyed(nullptr);
      metal::WorkerConfigBufferMgr().free(0);
    });
  }
  for (auto& thread : threads) thread.join();
  metal::Device chip = open_chip();
  metal::Buffer buffer(&mesh, &allocator, 4096, metal::BufferType::DRAM);
  step("after the race");
  return 0;
}

struct Memory {
  metal::AllocatorImpl allocator;
  distributed::MeshDevice mesh{&allocator};
};

[[noreturn]] void allocate_and_leave() {
  ::alarm(5);
  Memory own;
  const metal::Buffer buffer(&own.mesh, &own.allocator, 4096, metal::BufferType::DRAM);
  ::_exit(0);
}

/// Whoever asks an allocator must not hold up those who begin to use another, nor a fork.
int play_asked() {
  static std::vector<std::unique_ptr<Memory>> others;
  static thread_local bool is_asking = false;
  const metal::Device chip = open_chip();
  Memory first;
  const auto use_another = [] {
    Memory& other = *others.emplace_back(std::make_unique<Memory>());
    const metal::Buffer buffer(&other.mesh, &other.allocator, 4096, metal::BufferType::DRAM);
    if (::fork() == 0) allocate_and_leave();
    int status = -1;
    return ::wait(&status) > 0 && status == 0;
  };
  fake::while_asked = [&use_another] {
    if (!is_asking) return;
    auto used = std::async(std::launch::async, use_another);
    if (used.wait_for(std::chrono::seconds(10)) == std::future_status::ready && used.get()) return;
    std::cout << "held up" << std::endl;
    ::_exit(1);
  };
  is_asking = true;
  const metal::Buffer buffer(&first.mesh, &first.allocator, 4096, metal::BufferType::DRAM);
  is_asking = false;
  std::cout << others.size() << " others used" << std::endl;
  ::_exit(0);
}

}  // namespace

#ifdef TTMEM_OWN_OPERATOR_NEW
// A host with allocation functions of its own, as those with tcmalloc or a debug heap have.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  auto* words = static_cast<std::size_t*>(__builtin_malloc(bytes + 16));
  if (!words) throw std::bad_alloc();
  words[0] = 0x7E57;
  return words + 2;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (!memory) return;
  auto* words = static_cast<std::size_t*>(memory) - 2;
  if (words[0] != 0x7E57) __builtin_abort();
  __builtin_free(words);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "throw") == 0) return play_throw(arguments[2]);
  if (count == 2 && std::strcmp(arguments[1], "race") == 0) return play_race();
  if (count == 2 && std::strcmp(arguments[1], "asked") == 0) return play_asked();
  if (count == 2 && std::strcmp(arguments[1], "steps") == 0) return play_steps();
  if (count == 2 && std::strcmp(arguments[1], "memory") == 0) return play_memory();
  std::cerr << "ttmem_fake_host steps | memory | throw FUNCTION | race | asked\n";
  return 2;
}
