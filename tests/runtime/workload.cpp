// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include <utility>

#include "scene.hpp"

namespace ttmem::runtime {

namespace metal = tt::tt_metal;
namespace distributed = tt::tt_metal::distributed;

namespace {

constexpr const char* kMovement = "void kernel_main() {}\n";
constexpr const char* kCompute = "#include \"compute_kernel_api.h\"\nvoid kernel_main() {}\n";
constexpr std::uint32_t kPageBytes = 32;

metal::CoreSpec square(std::uint32_t side) {
  return metal::CoreRange{{0, 0}, {side - 1, side - 1}};
}

void add_kernels(metal::Program& program, std::uint32_t side) {
  metal::DataMovementConfig movement;
  movement.defines = {{"SIDE", std::to_string(side)}};
  metal::CreateKernelFromString(program, kMovement, square(side), movement);
  metal::ComputeConfig compute;
  compute.defines = {{"SIDE", std::to_string(side)}};
  metal::CreateKernelFromString(program, kCompute, square(side), compute);
}

void add_circular_buffer(metal::Program& program, std::uint32_t side, std::uint32_t bytes,
                         std::uint8_t index) {
  metal::CircularBufferConfig config(bytes, {{index, tt::DataFormat::Float16_b}});
  config.set_page_size(index, kPageBytes);
  metal::CreateCircularBuffer(program, square(side), config);
}

distributed::MeshCoordinateRange whole(const Mesh& mesh) {
  const auto rows = static_cast<std::uint32_t>(mesh.device().num_rows());
  const auto columns = static_cast<std::uint32_t>(mesh.device().num_cols());
  return {distributed::MeshCoordinate(0, 0), distributed::MeshCoordinate(rows - 1, columns - 1)};
}

metal::Program program_of(std::uint32_t side, std::uint32_t cb_count, std::uint32_t cb_bytes) {
  metal::Program program;
  add_kernels(program, side);
  for (std::uint32_t i = 0; i < cb_count; ++i) {
    add_circular_buffer(program, side, cb_bytes, static_cast<std::uint8_t>(i));
  }
  return program;
}

}  // namespace

Workload::Workload(const Mesh& mesh, std::uint32_t side, std::uint32_t cb_count,
                   std::uint32_t cb_bytes)
    : mesh_(mesh) {
  workload_.add_program(whole(mesh), program_of(side, cb_count, cb_bytes));
}

Workload::Workload(const Mesh& mesh, PerChip cb_bytes) : mesh_(mesh) {
  for (std::uint32_t row = 0; row < mesh.device().num_rows(); ++row) {
    for (std::uint32_t column = 0; column < mesh.device().num_cols(); ++column) {
      const distributed::MeshCoordinate chip(row, column);
      const std::uint32_t factor = 1 + row * 16 + column;
      workload_.add_program({chip, chip}, program_of(1, 1, cb_bytes.first * factor));
    }
  }
}

Workload::Workload(const Mesh& mesh, std::uint32_t side, std::uint32_t cb_bytes,
                   const Buffer& viewed)
    : mesh_(mesh) {
  metal::Program program;
  add_kernels(program, side);
  add_circular_buffer(program, side, cb_bytes, 0);
  metal::CircularBufferConfig view(2048, {{1, tt::DataFormat::Float16_b}}, viewed);
  view.set_page_size(1, kPageBytes);
  metal::CreateCircularBuffer(program, square(side), view);
  workload_.add_program(whole(mesh), std::move(program));
}

void Workload::enqueue() {
  distributed::EnqueueMeshWorkload(mesh_.device().mesh_command_queue(std::nullopt), workload_,
                                   false);
}

}  // namespace ttmem::runtime
