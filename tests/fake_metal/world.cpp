// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "fake_metal.hpp"

namespace metal = tt::tt_metal;
namespace distributed = tt::tt_metal::distributed;

namespace {

struct World : FakeWorld {
  metal::Device chip{nullptr, nullptr, 0, 1, 0, 0, {}, false, 0, 0, 0};
  metal::AllocatorImpl memory;
  distributed::MeshDevice mesh{&memory};
  distributed::FDMeshCommandQueue commands{&mesh, 0};
  distributed::MeshWorkload work;
};

}  // namespace

FakeWorld* fake_metal_open() {
  auto* world = new World;
  world->work.impl->add_program({{0, 0}, {0, 0}},
                                metal::Program(std::make_shared<metal::detail::ProgramImpl>(
                                    20000, "kernels/of_the_benchmark.cpp", 8192)));
  world->allocator = &world->memory;
  world->queue = &world->commands;
  world->workload = &world->work;
  return world;
}

void* fake_metal_buffer(FakeWorld* world, int sharded) {
  auto* whole = static_cast<World*>(world);
  const auto where = sharded ? metal::Placement::SHARDED : metal::Placement::INTERLEAVED;
  auto* buffer = new metal::Buffer(&whole->mesh, &whole->memory, 256, metal::BufferType::L1, where);
  whole->memory.deallocate_buffer(buffer);
  return buffer;
}

void fake_metal_hold(FakeWorld* world, std::uint64_t bytes) {
  auto* whole = static_cast<World*>(world);
  new metal::Buffer(&whole->mesh, &whole->memory, bytes, metal::BufferType::DRAM);
}

unsigned fake_metal_allocations() { return fake::allocations; }
