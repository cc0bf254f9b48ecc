// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "adapter.hpp"

#include <string>

namespace ttmem::upstream {

namespace {

using Lock = std::lock_guard<std::mutex>;

ttmem_core_range range_of(const metal::ObservedCores& cores) {
  return {static_cast<std::uint8_t>(cores.x0), static_cast<std::uint8_t>(cores.y0),
          static_cast<std::uint8_t>(cores.x1), static_cast<std::uint8_t>(cores.y1)};
}

std::vector<ttmem_core_range> ranges_of(std::span<const metal::ObservedCores> cores) {
  std::vector<ttmem_core_range> ranges;
  for (const auto& each : cores) ranges.push_back(range_of(each));
  return ranges;
}

ttmem_cores_t intern(std::uint32_t type, std::span<const metal::ObservedCores> cores) {
  if (cores.empty()) return 0;
  const auto ranges = ranges_of(cores);
  return ttmem_intern_cores(type, ranges.data(), static_cast<std::uint32_t>(ranges.size()));
}

ttmem_string_t intern(std::string_view text) {
  return text.empty() ? 0 : ttmem_intern_string(text.data(), text.size());
}

std::vector<ttmem_core> cores_of(const metal::ObservedDevice& device) {
  std::vector<ttmem_core> cores;
  for (std::uint32_t y = 0; y < device.all_rows; ++y) {
    for (std::uint32_t x = 0; x < device.all_columns; ++x) {
      const bool worker = x < device.worker_columns && y < device.worker_rows;
      const int role = worker ? TTMEM_ROLE_WORKER : TTMEM_ROLE_DISPATCH;
      cores.push_back({static_cast<std::uint8_t>(x),
                       static_cast<std::uint8_t>(y),
                       static_cast<std::uint8_t>(role),
                       TTMEM_CORE_TENSIX,
                       255,
                       255,
                       {}});
    }
  }
  return cores;
}

std::vector<ttmem_ring> rings_of(std::span<const metal::ObservedRing> rings) {
  std::vector<ttmem_ring> told;
  for (std::uint32_t type = 0; type < rings.size(); ++type)
    told.push_back({type, rings[type].base, rings[type].bytes});
  return told;
}

ttmem_kernel kernel_of(const metal::ObservedKernel& kernel) {
  ttmem_kernel record = {};
  record.name = intern(kernel.name.substr(0, kernel.name.find('/')));
  record.source = intern(kernel.source);
  record.hash = kernel.hash;
  record.core_type = static_cast<std::uint8_t>(kernel.core_type);
  record.processor = kernel.processor;
  record.packed_bytes = kernel.packed_bytes;
  record.text_bytes = kernel.text_bytes;
  record.cores = intern(record.core_type, kernel.cores);
  return record;
}

ttmem_range range_of(const metal::ObservedRange& range) {
  ttmem_range record = {};
  record.part = static_cast<std::uint8_t>(range.part);
  record.address = range.address;
  record.size = range.bytes;
  record.cores = intern(TTMEM_CORE_TENSIX, range.cores);
  return record;
}

std::uint8_t type_of(metal::ObservedOwner owner) {
  if (owner == metal::ObservedOwner::FABRIC) return TTMEM_KERNEL_FABRIC;
  return owner == metal::ObservedOwner::DISPATCH ? TTMEM_KERNEL_DISPATCH : TTMEM_KERNEL_APPLICATION;
}

std::uint32_t kind_of(metal::ObservedFault fault) {
  switch (fault) {
    case metal::ObservedFault::OUT_OF_MEMORY:
      return TTMEM_FAILURE_OUT_OF_MEMORY;
    case metal::ObservedFault::RING_TOO_SMALL:
      return TTMEM_FAILURE_RING_TOO_SMALL;
    case metal::ObservedFault::L1_CLASH:
      return TTMEM_FAILURE_CB_CLASH;
    default:
      return TTMEM_FAILURE_OTHER;
  }
}

}  // namespace

ttmem_set_t Adapter::set_of(std::span<const int> chips, std::uint32_t rows, std::uint32_t columns) {
  std::vector<ttmem_device_t> devices;
  for (const int chip : chips) devices.push_back(devices_[chip]);
  ttmem_set_info info = {};
  info.struct_size = sizeof info;
  info.device_count = static_cast<std::uint32_t>(devices.size());
  info.devices = devices.data();
  info.rows = static_cast<std::uint16_t>(rows);
  info.columns = static_cast<std::uint16_t>(columns ? columns : devices.size());
  return ttmem_device_set(&info);
}

void Adapter::device_opened(const metal::ObservedDevice& device) noexcept {
  const Lock lock(lock_);
  const std::string board(device.board);
  const auto cores = cores_of(device);
  ttmem_device_info info = {};
  info.struct_size = sizeof info;
  info.metal_id = device.chip;
  info.unique_id = device.unique_id;
  info.arch = device.arch;
  info.mock = device.mock;
  info.board = board.empty() ? nullptr : board.c_str();
  info.grid_x = device.worker_columns;
  info.grid_y = device.worker_rows;
  info.dram_banks = device.dram_banks;
  info.dram_bank_bytes = device.dram_bank_bytes;
  info.cores = cores.data();
  info.core_count = static_cast<std::uint32_t>(cores.size());
  for (std::uint32_t type = 0; type < device.rings.size() && type < TTMEM_CORE_TYPES; ++type) {
    ttmem_core_geometry& geometry = info.geometry[type];
    geometry.ring_base = geometry.fixed_end = device.rings[type].base;
    geometry.ring_bytes = device.rings[type].bytes;
  }
  info.geometry[TTMEM_CORE_TENSIX].l1_bytes = device.l1_bytes;
  info.geometry[TTMEM_CORE_TENSIX].unreserved_base = device.l1_unreserved_base;
  devices_[device.chip] = ttmem_device_opened(&info);
}

void Adapter::allocator_changed(const metal::ObservedAllocator& allocator) noexcept {
  const Lock lock(lock_);
  std::vector<std::vector<ttmem_core_range>> cores;
  std::vector<ttmem_space_info> spaces;
  for (const auto& bank : allocator.spaces) {
    cores.push_back(ranges_of(bank.cores));
    spaces.push_back({static_cast<std::uint32_t>(bank.space), bank.banks, bank.base,
                      bank.bank_bytes, bank.alignment, 0,
                      cores.back().empty() ? nullptr : cores.back().data()});
  }
  if (const auto known = allocators_.find(allocator.id); known != allocators_.end()) {
    for (const auto& space : spaces) ttmem_allocator_resized(known->second, &space);
    return;
  }
  ttmem_allocator_info info = {};
  info.struct_size = sizeof info;
  info.set = set_of(allocator.chips, allocator.rows, allocator.columns);
  info.space_count = static_cast<std::uint16_t>(spaces.size());
  info.spaces = spaces.data();
  allocators_[allocator.id] = ttmem_allocator_opened(&info);
}

void Adapter::allocator_cleared(ObservedId allocator) noexcept {
  const Lock lock(lock_);
  if (const auto known = allocators_.find(allocator); known != allocators_.end())
    ttmem_allocator_cleared(known->second);
}

void Adapter::buffer_allocated(const metal::ObservedBuffer& buffer) noexcept {
  const Lock lock(lock_);
  ttmem_buffer record = {};
  record.id = buffer.id;
  record.address = buffer.address;
  record.requested = buffer.requested;
  record.block = buffer.block;
  record.allocator = allocators_[buffer.allocator];
  record.space = static_cast<std::uint8_t>(buffer.space);
  record.layout = buffer.layout;
  record.cores = intern(TTMEM_CORE_TENSIX, buffer.cores);
  if (!buffer.core_addresses.empty()) {
    record.per_core = 1;
    record.address = ttmem_intern_addresses(
        buffer.core_addresses.data(), static_cast<std::uint32_t>(buffer.core_addresses.size()));
  }
  if (buffer.space == metal::ObservedSpace::TRACE) record.flags |= TTMEM_FLAG_TRACE;
  if (buffer.binaries_of) {
    record.flags |= TTMEM_FLAG_KERNEL_BINARIES;
    Handle& workload = workloads_[buffer.binaries_of];
    workload.binaries_in = record.allocator;
    workload.binaries = buffer.id;
  }
  ttmem_buffer_allocated(&record);
}

void Adapter::buffer_freed(ObservedId allocator, metal::ObservedSpace space,
                           ObservedId id) noexcept {
  const Lock lock(lock_);
  ttmem_buffer_freed(allocators_[allocator], static_cast<std::uint32_t>(space), id);
}

void Adapter::program_placed(const metal::ObservedProgram& program) noexcept {
  const Lock lock(lock_);
  std::vector<ttmem_kernel> kernels;
  for (const auto& kernel : program.kernels) kernels.push_back(kernel_of(kernel));
  std::vector<ttmem_range> ranges;
  for (const auto& range : program.ranges) ranges.push_back(range_of(range));
  ttmem_program record = {};
  record.struct_size = sizeof record;
  record.type = type_of(program.owner);
  record.set = set_of(program.chips);
  record.id = program.id;
  record.name = intern(program.operation);
  for (std::size_t type = 0; type < program.ring_bytes.size() && type < TTMEM_CORE_TYPES; ++type)
    record.config_bytes[type] = program.ring_bytes[type];
  record.kernel_count = static_cast<std::uint32_t>(kernels.size());
  record.kernels = kernels.data();
  record.range_count = static_cast<std::uint32_t>(ranges.size());
  record.ranges = ranges.data();
  ttmem_program_registered(&record);
  if (program.owner == metal::ObservedOwner::APPLICATION) return;
  Handle& own = programs_[program.id];
  own.recorded = ttmem_workload_created(program.id, record.set);
  ttmem_workload_joined(own.recorded, program.id, record.set);
  ttmem_dispatched(own.recorded, 0, 0, TTMEM_DISPATCH_BUILT);
}

ttmem_workload_t Adapter::handle_of(const metal::ObservedLaunch& launch, ttmem_set_t set) {
  Handle& handle =
      launch.workload ? workloads_[launch.workload] : programs_[launch.programs.front()];
  if (!handle.recorded) {
    handle.recorded =
        ttmem_workload_created(launch.workload ? launch.workload : launch.programs.front(), set);
    for (const ObservedId program : launch.programs)
      ttmem_workload_joined(handle.recorded, program, set);
    if (handle.binaries)
      ttmem_workload_binaries(handle.recorded, handle.binaries_in, handle.binaries);
  }
  return handle.recorded;
}

void Adapter::take_ring(const metal::ObservedLaunch& launch, ttmem_set_t set,
                        ttmem_workload_t workload) {
  ttmem_ring_manager_t& ring = queues_[launch.queue].ring;
  if (!ring) {
    const auto rings = rings_of(launch.rings);
    ring = ttmem_ring_manager_opened(set, launch.queue_number, 0, rings.data(),
                                     static_cast<std::uint32_t>(rings.size()), 1);
  }
  ttmem_ring_launch record = {};
  record.workload = workload;
  for (std::size_t type = 0; type < launch.ring_bytes.size() && type < TTMEM_CORE_TYPES; ++type)
    record.bytes[type] = launch.ring_bytes[type];
  record.has_freed = launch.waited;
  record.freed = launch.freed;
  record.sync = launch.completed;
  ttmem_ring_launched(ring, &record);
}

void Adapter::launched(const metal::ObservedLaunch& launch) noexcept {
  const Lock lock(lock_);
  if (launch.programs.empty()) return;
  const ttmem_set_t set = set_of(launch.chips);
  const ttmem_workload_t handle = handle_of(launch, set);
  if (!launch.rings.empty()) take_ring(launch, set, handle);
  if (launch.captured_by) return ttmem_trace_captured(launch.captured_by, handle);
  ttmem_dispatched(handle, launch.queue_number, 0,
                   launch.slow ? std::uint32_t{TTMEM_DISPATCH_SLOW} : 0u);
}

void Adapter::trace_changed(const metal::ObservedTrace& trace) noexcept {
  const Lock lock(lock_);
  if (trace.step == metal::ObservedTraceStep::RELEASED) return ttmem_trace_released(trace.trace);
  Queue& queue = queues_[trace.queue];
  switch (trace.step) {
    case metal::ObservedTraceStep::BEGUN:
      if (queue.ring) {
        ttmem_ring_saved(queue.ring);
        ttmem_ring_filled(queue.ring, trace.completed);
      }
      queue.trace = trace.trace;
      return ttmem_trace_begun(trace.trace, set_of(trace.chips), trace.queue_number);
    case metal::ObservedTraceStep::ENDED:
      queue.trace = 0;
      ttmem_trace_ended(trace.trace);
      if (queue.ring) ttmem_ring_restored(queue.ring);
      return;
    default:
      if (queue.ring) ttmem_ring_filled(queue.ring, trace.completed);
      return ttmem_trace_replayed(trace.trace);
  }
}

void Adapter::failed(const metal::ObservedFailure& failure) noexcept {
  const Lock lock(lock_);
  const std::string message(failure.message);
  ttmem_failure record = {};
  record.struct_size = sizeof record;
  record.kind = kind_of(failure.fault);
  record.message = message.c_str();
  record.requested = failure.requested;
  record.per_bank = failure.per_bank;
  record.program = failure.program;
  record.set = set_of(failure.chips);
  record.allocator = failure.allocator ? allocators_[failure.allocator] : ttmem_allocator_t{0};
  record.space = static_cast<std::uint32_t>(failure.space);
  ttmem_failed(&record);
}

void Adapter::end_queue(ObservedId queue) {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return;
  if (found->second.ring) ttmem_ring_manager_closed(found->second.ring);
  if (found->second.trace) ttmem_trace_released(found->second.trace);
  queues_.erase(found);
}

void Adapter::ended(metal::ObservedThing thing, ObservedId id) noexcept {
  const Lock lock(lock_);
  switch (thing) {
    case metal::ObservedThing::DEVICE:
      return ttmem_device_closed(devices_[static_cast<int>(id)]);
    case metal::ObservedThing::ALLOCATOR:
      if (const auto node = allocators_.extract(id)) ttmem_allocator_closed(node.mapped());
      return;
    case metal::ObservedThing::PROGRAM:
      ttmem_program_released(id);
      if (const auto node = programs_.extract(id)) ttmem_workload_released(node.mapped().recorded);
      return;
    case metal::ObservedThing::WORKLOAD:
      if (const auto node = workloads_.extract(id); node && node.mapped().recorded)
        ttmem_workload_released(node.mapped().recorded);
      return;
    case metal::ObservedThing::QUEUE:
      return end_queue(id);
  }
}

namespace {

/// Set before main, and never ended: the runtime tells until the process is gone.
[[maybe_unused]] const bool is_set = [] {
  metal::set_memory_observer(new Adapter);
  return true;
}();

}  // namespace

}  // namespace ttmem::upstream
