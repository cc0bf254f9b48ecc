// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The busy scenario: buffers, programs, dispatches and traces that come and go.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "cli/demo_mesh.hpp"
#include "cli/demo_scenarios.hpp"

namespace ttmem::cli {
namespace {

// Buffers of the busy demonstration. A small allocator of equal places, so that no two buffers ever
// lie over each other.
class DemoBuffers {
 public:
  // `places` of `place_bytes` in every bank, from `base` upwards.
  DemoBuffers(const DemoMesh& mesh, std::uint8_t space, std::uint32_t banks, std::uint64_t base,
              std::uint64_t place_bytes, std::uint32_t places);

  // Takes a random free place for up to `place_bytes`; empty when all are taken.
  std::optional<std::uint64_t> allocate(std::mt19937_64& random, std::uint32_t flags);
  void free(std::uint64_t id);
  void free_any(std::mt19937_64& random);

  std::size_t live() const { return live_.size(); }
  std::size_t places() const { return taken_.size(); }

 private:
  struct Live {
    std::uint64_t id;
    std::size_t place;
  };
  void release(std::size_t index);

  ttmem_allocator_t allocator_;
  std::uint8_t space_;
  std::uint32_t banks_;
  std::uint64_t base_, place_bytes_;
  std::uint64_t last_id_ = 0;
  std::vector<bool> taken_;
  std::vector<Live> live_;
};

constexpr std::uint64_t kAlignment = 32;

DemoBuffers::DemoBuffers(const DemoMesh& mesh, std::uint8_t space, std::uint32_t banks,
                         std::uint64_t base, std::uint64_t place_bytes, std::uint32_t places)
    : allocator_(mesh.allocator),
      space_(space),
      banks_(banks),
      base_(base),
      place_bytes_(place_bytes),
      taken_(places) {}

std::optional<std::uint64_t> DemoBuffers::allocate(std::mt19937_64& random, std::uint32_t flags) {
  const std::size_t start = random() % taken_.size();
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const std::size_t place = (start + i) % taken_.size();
    if (taken_[place]) continue;
    taken_[place] = true;
    live_.push_back({++last_id_, place});
    ttmem_buffer buffer{};
    buffer.id = last_id_;
    buffer.address = base_ + place * place_bytes_;
    buffer.block = (random() % (place_bytes_ / kAlignment) + 1) * kAlignment;
    buffer.requested = buffer.block * banks_ - random() % kAlignment;
    buffer.allocator = allocator_;
    buffer.space = space_;
    buffer.layout = TTMEM_LAYOUT_INTERLEAVED;
    buffer.flags = flags;
    ttmem_buffer_allocated(&buffer);
    return last_id_;
  }
  return std::nullopt;
}

void DemoBuffers::release(std::size_t index) {
  ttmem_buffer_freed(allocator_, space_, live_[index].id);
  taken_[live_[index].place] = false;
  live_[index] = live_.back();
  live_.pop_back();
}

void DemoBuffers::free(std::uint64_t id) {
  const auto found =
      std::find_if(live_.begin(), live_.end(), [&](const Live& each) { return each.id == id; });
  if (found != live_.end()) release(static_cast<std::size_t>(found - live_.begin()));
}

void DemoBuffers::free_any(std::mt19937_64& random) {
  if (!live_.empty()) release(random() % live_.size());
}

constexpr DemoRegions kRegions = {.l1_small_bytes = 32'768, .trace_bytes = 4ull << 20};
constexpr std::uint64_t kDramPlace = 4ull << 20, kL1Place = 8'192, kL1SmallPlace = 1'024,
                        kTracePlace = 512 * 1024;
constexpr std::uint32_t kDramPlaces = 128, kL1Places = 64, kL1SmallPlaces = 16, kTracePlaces = 8;
constexpr std::size_t kMostPrograms = 24, kMostTraces = 3;
constexpr std::uint32_t kMostBufferIndex = 8;

constexpr std::array<const char*, 8> kOperations = {
    "matmul", "layernorm", "softmax", "attention", "conv2d", "add", "transpose", "embedding"};

struct LiveProgram {
  std::uint64_t id;
  ttmem_workload_t workload;
  std::uint32_t config_bytes;
  bool launched = false;
};

struct LiveTrace {
  std::uint64_t id, buffer;
};

}  // namespace

struct BusyWorkload::State {
  DemoMesh mesh;
  std::mt19937_64 random;
  DemoBuffers dram, l1, l1_small, trace_region;
  std::vector<LiveProgram> programs;
  std::vector<LiveTrace> traces;
  std::uint64_t last_program = kFirstApplicationProgram;
  std::uint64_t last_trace = 0;

  State(std::uint32_t devices, std::uint64_t seed)
      : mesh(open_demo_mesh(devices, kRegions)),
        random(seed),
        dram(mesh, TTMEM_SPACE_DRAM, kDemoDramBanks, kDemoDramBase, kDramPlace, kDramPlaces),
        l1(mesh, TTMEM_SPACE_L1, kDemoWorkers, mesh.l1_end - kL1Places * kL1Place, kL1Place,
           kL1Places),
        l1_small(mesh, TTMEM_SPACE_L1_SMALL, kDemoWorkers, mesh.l1_end, kL1SmallPlace,
                 kL1SmallPlaces),
        trace_region(mesh, TTMEM_SPACE_TRACE, kDemoDramBanks,
                     kDemoDramBase + kDemoDramBankBytes - kRegions.trace_bytes, kTracePlace,
                     kTracePlaces) {
    load_system_programs(mesh);
  }

  std::uint64_t below(std::uint64_t limit) { return random() % limit; }

  ttmem_cores_t some_workers() {
    const auto x = static_cast<std::uint8_t>(below(kDemoGridX));
    const auto y = static_cast<std::uint8_t>(below(kDemoGridY));
    const ttmem_core_range range{0, 0, x, y};
    return ttmem_intern_cores(TTMEM_CORE_TENSIX, &range, 1);
  }

  void change_buffers(DemoBuffers& buffers) {
    // Fuller pools free more often: they hover around half.
    if (below(buffers.places()) < buffers.live()) {
      buffers.free_any(random);
    } else {
      buffers.allocate(random, 0);
    }
  }

  DemoProgram new_program() {
    DemoProgram plan;
    plan.id = last_program++;
    plan.name = kOperations[below(kOperations.size())];
    plan.config_bytes = static_cast<std::uint32_t>(4'096 + 32 * below(400));
    const ttmem_cores_t cores = some_workers();
    for (std::uint64_t i = 0; i <= below(3); ++i) {
      plan.kernels.push_back({plan.name, "kernels/busy.cpp",
                              static_cast<std::uint32_t>(2'048 + 16 * below(500)),
                              TTMEM_CORE_TENSIX, cores});
    }
    std::uint64_t address = kDemoUnreserved;
    const std::uint64_t buffers = 1 + below(kMostBufferIndex);
    for (std::uint64_t index = 0; index < buffers; ++index) {
      const std::uint64_t size = 1'024 * (1 + below(48));
      plan.ranges.push_back(
          circular_buffer(cores, static_cast<std::uint8_t>(index), address, size));
      address += size;
    }
    return plan;
  }

  void add_program() {
    if (programs.size() >= kMostPrograms) return drop_program();
    const DemoProgram plan = new_program();
    ttmem_tag_push(demo_string(plan.name), 0);
    programs.push_back({plan.id, register_program(mesh, plan), plan.config_bytes});
    ttmem_tag_pop();
  }

  void drop_program() {
    if (programs.empty() || !traces.empty()) return;
    const std::size_t index = below(programs.size());
    ttmem_program_released(programs[index].id);
    ttmem_workload_released(programs[index].workload);
    programs.erase(programs.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void dispatch() {
    if (programs.empty()) return add_program();
    LiveProgram& program = programs[below(programs.size())];
    ttmem_ring_simulated(mesh.ring, program.workload, &program.config_bytes, 1, kDemoWorkers,
                         program.launched ? 0 : 1);
    ttmem_dispatched(program.workload, 0, 0, 0);
    program.launched = true;
  }

  void capture() {
    if (traces.size() >= kMostTraces) return release_trace();
    const auto buffer = trace_region.allocate(random, TTMEM_FLAG_TRACE);
    if (!buffer || programs.empty()) return;
    const std::uint64_t id = ++last_trace;
    ttmem_trace_begun(id, mesh.set, 0);
    for (std::size_t i = 0; i < programs.size(); i += 3) {
      ttmem_trace_captured(id, programs[i].workload);
    }
    ttmem_trace_ended(id);
    traces.push_back({id, *buffer});
  }

  void release_trace() {
    ttmem_trace_released(traces.front().id);
    trace_region.free(traces.front().buffer);
    traces.erase(traces.begin());
  }

  void replay() {
    if (!traces.empty()) ttmem_trace_replayed(traces[below(traces.size())].id);
  }
};

BusyWorkload::BusyWorkload(std::uint32_t devices, std::uint64_t seed)
    : state_(std::make_unique<State>(devices, seed)) {}

BusyWorkload::~BusyWorkload() = default;

void BusyWorkload::step() {
  const std::uint64_t dice = state_->below(100);
  if (dice < 14) return state_->change_buffers(state_->dram);
  if (dice < 26) return state_->change_buffers(state_->l1);
  if (dice < 28) return state_->change_buffers(state_->l1_small);
  if (dice < 32) return state_->add_program();
  if (dice < 34) return state_->drop_program();
  if (dice < 35) return state_->capture();
  if (dice < 36 && !state_->traces.empty()) return state_->release_trace();
  if (dice < 42) return state_->replay();
  state_->dispatch();
}

}  // namespace ttmem::cli
