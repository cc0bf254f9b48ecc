// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One small workload on the stock library and a mock chip, told in one of the ways of
// docs/ways-in.md:
//
//   ways_in_host plain      nothing is told: for the hooks, or for nobody
//   ways_in_host wrapped    circular buffers and kernels are created by the wrappers
//   ways_in_host reported   what a patched TT-Metal would report at its hook sites
//
// When all is launched it prints one line of JSON with what was asked for, and waits for a line.

#include <fstream>
#include <iostream>
#include <string>
#include <ttmem/allocation_tracker.hpp>
#include <ttmem/instrumented_helpers.hpp>
#include <vector>

#include "scene.hpp"

namespace tt::tt_metal {

std::uint32_t CreateKernel(Program& program, const std::string& file, const CoreSpec& cores,
                           const KernelConfig& config);

namespace detail {
struct KernelBinaryMeta {
  std::uint32_t processor_index;
  std::size_t packed_size;
};
struct KernelMeta {
  std::string_view name;
  std::string_view source;
  std::uint8_t processor_class;
  int core_type;
  std::optional<std::uint8_t> math_fidelity;
  std::vector<KernelBinaryMeta> binary_meta;
};
std::vector<KernelMeta> collect_kernel_meta(const Program& program, IDevice* device);
}  // namespace detail

}  // namespace tt::tt_metal

namespace {

namespace metal = tt::tt_metal;
namespace distributed = tt::tt_metal::distributed;
namespace tracker = tt::tt_metal::allocation_tracker;
using ttmem::runtime::Mesh;

enum class Way { kPlain, kWrapped, kReported };

constexpr int kDevice = 0;
constexpr std::uint32_t kDramBytes = 1024 * 2048;
constexpr std::uint32_t kL1Bytes = 64 * 2048;

struct Plan {
  std::uint32_t side;
  std::uint32_t cb_count;
  std::uint32_t cb_bytes;
};
constexpr Plan kPlans[] = {{4, 2, 4096}, {2, 1, 65536}};

std::string kernel_file(const char* name, const char* text) {
  std::ofstream(name) << text;
  return std::filesystem::absolute(name).string();
}

// A program and a second hold on it: the workload takes the first.
struct Launched {
  std::shared_ptr<metal::detail::ProgramImpl> held;
  metal::Program& program() { return reinterpret_cast<metal::Program&>(held); }
};

class Workload {
 public:
  Workload(Way way, const Mesh& mesh) : way_(way), mesh_(mesh) {}

  void add(const Plan& plan) {
    metal::Program program;
    const metal::CoreRange cores{{0, 0}, {plan.side - 1, plan.side - 1}};
    metal::DataMovementConfig movement;
    metal::ComputeConfig compute;
    movement.defines = compute.defines = {{"SIDE", std::to_string(plan.side)}};
    add_kernel(program, movement_, cores, movement);
    add_kernel(program, compute_, cores, compute);
    for (std::uint32_t i = 0; i < plan.cb_count; ++i) add_buffer(program, plan, cores, i);
    Launched launched{reinterpret_cast<std::shared_ptr<metal::detail::ProgramImpl>&>(program)};
    const distributed::MeshCoordinate chip(0, 0);
    workloads_.emplace_back(std::make_unique<distributed::MeshWorkload>());
    workloads_.back()->add_program({chip, chip}, std::move(program));
    launch(launched, plan);
  }

 private:
  void add_kernel(metal::Program& program, const std::string& file, const metal::CoreSpec& cores,
                  const metal::KernelConfig& config) {
    if (way_ == Way::kWrapped) {
      metal::instrumented::AddKernelWithTracking(program, file, cores, config);
    } else {
      metal::CreateKernel(program, file, cores, config);
    }
  }

  void add_buffer(metal::Program& program, const Plan& plan, const metal::CoreSpec& cores,
                  std::uint32_t index) {
    const auto number = static_cast<std::uint8_t>(index);
    metal::CircularBufferConfig config(plan.cb_bytes, {{number, tt::DataFormat::Float16_b}});
    config.set_page_size(number, 32);
    if (way_ == Way::kWrapped) {
      metal::instrumented::CreateCircularBufferWithTracking(program, cores, config);
      return;
    }
    metal::CreateCircularBuffer(program, cores, config);
    if (way_ == Way::kReported) {
      tracker::report_cb_allocation(kDevice, plan.cb_bytes, index, cores);
    }
  }

  void launch(Launched& launched, const Plan& plan) {
    distributed::EnqueueMeshWorkload(mesh_.device().mesh_command_queue(std::nullopt),
                                     *workloads_.back(), false);
    if (way_ == Way::kPlain) return;
    const auto metas = metal::detail::collect_kernel_meta(launched.program(), mesh_.as_device());
    if (way_ == Way::kWrapped) {
      metal::instrumented::TrackCompiled(launched.program(), metas);
      metal::instrumented::TrackLaunch(launched.program());
      return;
    }
    for (const auto& meta : metas) {
      std::uint64_t bytes = 0;
      for (const auto& binary : meta.binary_meta) bytes += binary.packed_size;
      tracker::report_kernel_allocation(kDevice, bytes * plan.side * plan.side, ++kernels_);
    }
  }

  Way way_;
  const Mesh& mesh_;
  std::string movement_ = kernel_file("movement.cpp", "void kernel_main() {}\n");
  std::string compute_ =
      kernel_file("compute.cpp", "#include \"compute_kernel_api.h\"\nvoid kernel_main() {}\n");
  std::vector<std::unique_ptr<distributed::MeshWorkload>> workloads_;
  std::uint64_t kernels_ = 0;
};

Way parse(const std::string& word) {
  if (word == "wrapped") return Way::kWrapped;
  return word == "reported" ? Way::kReported : Way::kPlain;
}

}  // namespace

int main(int count, char** arguments) {
  const Way way = parse(count > 1 ? arguments[1] : "plain");
  Mesh mesh({});
  const auto dram = mesh.interleaved(metal::BufferType::DRAM, kDramBytes, 2048);
  const auto l1 = mesh.interleaved(metal::BufferType::L1, kL1Bytes, 2048);
  if (way == Way::kReported) {
    tracker::report_buffer_allocation(kDevice, kDramBytes, 0, 1);
    tracker::report_buffer_allocation(kDevice, kL1Bytes, 1, 2);
  }
  {
    Workload workload(way, mesh);
    for (const Plan& plan : kPlans) workload.add(plan);
    mesh.checkpoint("launched");
    std::string line;
    std::getline(std::cin, line);
  }
  mesh.close();
  return 0;
}
