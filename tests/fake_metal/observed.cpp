// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "observed.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace fake::observed {

namespace {

using experimental::MemoryObserver;
using experimental::ObservedCores;
using experimental::ObservedOwner;
using experimental::ObservedRing;
using experimental::ObservedSpace;

MemoryObserver* observer = nullptr;
thread_local ObservedOwner owner = ObservedOwner::APPLICATION;
thread_local ObservedId binaries_of = 0;

constexpr ObservedRing kRings[] = {{kRingBase, kRingBytes}, {258336, 640}, {32368, 25600}};
constexpr ObservedCores kBankCores[] = {{0, 0, 0, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}, {1, 1, 1, 1}};
constexpr ObservedCores kShardCores[] = {{0, 0, 1, 0}};
constexpr ObservedCores kAllWorkers[] = {{0, 0, 1, 1}};
constexpr int kChips[] = {0};  // the only one of this world

/// Allocators that the observer knows.
std::vector<const metal::AllocatorImpl*>& known() {
  static std::vector<const metal::AllocatorImpl*> allocators;
  return allocators;
}

ObservedSpace space_of(metal::BufferType type) { return static_cast<ObservedSpace>(type); }

experimental::ObservedBank bank_of(const metal::AllocatorImpl& allocator, metal::BufferType type) {
  using metal::BufferType;
  const auto bytes = allocator.get_statistics(type).allocatable;
  const bool in_dram = type == BufferType::DRAM || type == BufferType::TRACE;
  std::uint64_t base =
      allocator.get_base_allocator_addr(in_dram ? metal::HalMemType::DRAM : metal::HalMemType::L1);
  // Above the space that grows from the bottom.
  if (bytes && type == BufferType::TRACE)
    base += allocator.get_statistics(BufferType::DRAM).allocatable;
  if (!bytes && (type == BufferType::TRACE || type == BufferType::L1_SMALL)) base = 0;
  experimental::ObservedBank bank{space_of(type),
                                  bytes ? allocator.get_num_banks(type) : 0,
                                  base,
                                  bytes,
                                  allocator.get_alignment(type),
                                  {}};
  if (!in_dram && bytes) bank.cores = kBankCores;
  return bank;
}

void describe(const metal::AllocatorImpl& allocator) {
  using metal::BufferType;
  const experimental::ObservedBank spaces[] = {
      bank_of(allocator, BufferType::DRAM), bank_of(allocator, BufferType::L1),
      bank_of(allocator, BufferType::L1_SMALL), bank_of(allocator, BufferType::TRACE)};
  experimental::ObservedAllocator told{};
  told.id = id_of(&allocator);
  told.chips = kChips;
  told.rows = told.columns = 1;
  told.spaces = spaces;
  observer->allocator_changed(told);
}

void know(const metal::AllocatorImpl& allocator) {
  auto& all = known();
  if (std::find(all.begin(), all.end(), &allocator) != all.end()) return;
  all.push_back(&allocator);
  describe(allocator);
}

experimental::ObservedFailure failure(experimental::ObservedFault fault, const char* message) {
  experimental::ObservedFailure told{};
  told.fault = fault;
  told.message = message;
  told.space = ObservedSpace::L1;
  told.chips = kChips;
  return told;
}

std::vector<experimental::ObservedKernel> kernels_of(metal::detail::ProgramImpl& program) {
  std::vector<experimental::ObservedKernel> told;
  for (std::uint32_t type = 0; type < 3; ++type) {
    for (const auto& [handle, kernel] : program.get_kernels(type)) {
      const auto meta = kernel->meta(nullptr);
      const auto bytes = static_cast<std::uint32_t>(meta.binaries.front().packed_size);
      told.push_back({meta.name, meta.source, std::hash<std::string_view>{}(meta.name),
                      experimental::ObservedCoreType::TENSIX, 0, bytes, 0, kAllWorkers});
    }
  }
  return told;
}

}  // namespace

void opened(const metal::Device& device, int chip) {
  if (!observer) return;
  const auto workers = device.compute_with_storage_grid_size();
  const auto all = device.logical_grid_size();
  experimental::ObservedDevice told{};
  told.chip = chip;
  told.unique_id = kUniqueId;
  told.arch = static_cast<std::uint32_t>(device.arch());
  told.worker_columns = static_cast<std::uint32_t>(workers.x);
  told.worker_rows = static_cast<std::uint32_t>(workers.y);
  told.all_columns = static_cast<std::uint32_t>(all.x);
  told.all_rows = static_cast<std::uint32_t>(all.y);
  told.dram_banks = kDramBanks;
  told.l1_bytes = device.l1_size_per_core();
  told.l1_unreserved_base = kL1Base;
  told.rings = kRings;
  observer->device_opened(told);
}

void allocated(metal::AllocatorImpl& allocator, const metal::Buffer& buffer, std::uint64_t block,
               std::uint64_t address) {
  if (!observer) return;
  know(allocator);
  experimental::ObservedBuffer told{};
  told.allocator = id_of(&allocator);
  told.id = buffer.unique_id();
  told.space = space_of(buffer.buffer_type());
  told.layout = static_cast<std::uint8_t>(buffer.buffer_layout());
  told.requested = buffer.size();
  told.block = block;
  told.address = address;
  told.binaries_of = binaries_of;
  if (buffer.placement != metal::Placement::INTERLEAVED) told.cores = kShardCores;
  std::vector<std::uint64_t> addresses;
  const std::map<tt::xy_pair, std::uint64_t> in_order(buffer.addresses.begin(),
                                                      buffer.addresses.end());
  for (const auto& [core, at_core] : in_order) addresses.push_back(at_core);
  told.core_addresses = addresses;
  observer->buffer_allocated(told);
}

void freed(const metal::AllocatorImpl& allocator, const metal::Buffer& buffer) {
  if (observer)
    observer->buffer_freed(id_of(&allocator), space_of(buffer.buffer_type()), buffer.unique_id());
}

void cleared(const metal::AllocatorImpl& allocator) {
  if (observer) observer->allocator_cleared(id_of(&allocator));
}

void resized(metal::AllocatorImpl& allocator) {
  if (observer) describe(allocator);
}

void out_of_memory(metal::AllocatorImpl& allocator, const metal::Buffer& buffer,
                   const char* message) {
  if (!observer) return;
  know(allocator);
  auto told = failure(experimental::ObservedFault::OUT_OF_MEMORY, message);
  told.requested = buffer.size();
  told.per_bank = buffer.aligned_size_per_bank();
  told.allocator = id_of(&allocator);
  told.space = space_of(buffer.buffer_type());
  observer->failed(told);
}

void ended(experimental::ObservedThing thing, ObservedId id) {
  if (!observer) return;
  if (thing == experimental::ObservedThing::ALLOCATOR) {
    std::erase_if(known(), [=](const auto* each) { return id_of(each) == id; });
  }
  observer->ended(thing, id);
}

void placed(const metal::detail::ProgramImpl& program, const metal::IDevice*,
            const std::vector<experimental::ObservedRange>& ranges) {
  if (!observer) return;
  auto& source = const_cast<metal::detail::ProgramImpl&>(program);
  const auto kernels = kernels_of(source);
  std::vector<experimental::ObservedRange> on_workers = ranges;
  for (auto& range : on_workers) range.cores = kAllWorkers;
  const std::uint32_t bytes[] = {source.get_program_config_size(0),
                                 source.get_program_config_size(1),
                                 source.get_program_config_size(2)};
  experimental::ObservedProgram told{};
  told.id = program.get_id() + 1;
  told.owner = owner;
  told.chips = kChips;
  told.kernels = kernels;
  told.ranges = on_workers;
  told.ring_bytes = bytes;
  observer->program_placed(told);
}

void launched_slowly(const metal::detail::ProgramImpl& program, const metal::IDevice&) {
  if (!observer) return;
  const ObservedId programs[] = {program.get_id() + 1};
  experimental::ObservedLaunch told{};
  told.programs = programs;
  told.chips = kChips;
  told.slow = true;
  observer->launched(told);
}

void launched(const Launch& launch) {
  if (!observer) return;
  std::vector<ObservedId> programs;
  for (const auto& program : launch.workload.impl->programs)
    programs.push_back(program.impl_->get_id() + 1);
  auto& first = *launch.workload.impl->programs.front().impl_;
  const std::uint32_t bytes[] = {first.get_program_config_size(0), 0, 0};
  experimental::ObservedLaunch told{};
  told.workload = id_of(launch.workload.impl.get());
  told.programs = programs;
  told.chips = kChips;
  told.queue = id_of(&launch.queue);
  told.queue_number = launch.queue.id_;
  told.captured_by = launch.captured_by;
  if (launch.has_ring) {
    told.rings = kRings;
    told.ring_bytes = bytes;
  }
  told.waited = launch.waited;
  told.freed = launch.freed;
  told.completed = launch.completed;
  observer->launched(told);
}

void traced(experimental::ObservedTraceStep step, ObservedId trace,
            const metal::distributed::MeshCommandQueue* queue, std::uint32_t completed) {
  if (!observer) return;
  experimental::ObservedTrace told{};
  told.step = step;
  told.trace = trace;
  told.queue = id_of(queue);
  told.chips = kChips;
  told.queue_number = queue ? queue->id_ : 0;
  told.completed = completed;
  observer->trace_changed(told);
}

void ring_too_small(const metal::distributed::MeshCommandQueue&, const char* message,
                    std::uint64_t bytes) {
  if (!observer) return;
  auto told = failure(experimental::ObservedFault::RING_TOO_SMALL, message);
  told.per_bank = bytes;
  observer->failed(told);
}

void trace_too_large(const metal::distributed::MeshDevice& mesh, const char* message) {
  if (!observer) return;
  auto told = failure(experimental::ObservedFault::OUT_OF_MEMORY, message);
  told.allocator = id_of(mesh.allocator);
  told.space = ObservedSpace::TRACE;
  observer->failed(told);
}

Building::Building(ObservedOwner of) { owner = of; }
Building::~Building() { owner = ObservedOwner::APPLICATION; }

LoadingBinaries::LoadingBinaries(ObservedId workload) { binaries_of = workload; }
LoadingBinaries::~LoadingBinaries() { binaries_of = 0; }

}  // namespace fake::observed

void tt::tt_metal::experimental::set_memory_observer(MemoryObserver* observer) {
  fake::observed::observer = observer;
}
