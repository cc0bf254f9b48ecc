// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/world.hpp"

#include "ledger/check_sums.hpp"

namespace ttmem::ledger {
namespace {

constexpr std::uint64_t kDramBase = 1048640, kDramBankBytes = 1072693184;

CoreRecord core(CoreType type, unsigned x, unsigned y, Role role) {
  CoreRecord record;
  record.core = {type, static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
  record.role = role;
  return record;
}

}  // namespace

DeviceRecord wormhole(std::uint64_t unique_id, int metal_id, unsigned columns, unsigned rows) {
  DeviceRecord device;
  device.unique_id = unique_id;
  device.metal_id = metal_id;
  device.arch = Arch::kWormholeB0;
  device.mock = true;
  device.open = true;
  device.board = "n150";
  device.grid_x = static_cast<std::uint16_t>(columns);
  device.grid_y = static_cast<std::uint16_t>(rows);
  device.dram_banks = 12;
  device.dram_bank_bytes = 1ull << 30;
  device.geometry[0] = {kL1Bytes, kRingBase, kRingBase, kRingBytes, kProgramBase};
  device.geometry[1] = {262144, 36864, 258336, 640, 98304};
  device.geometry[2] = {262144, 32240, 32240, 25600, 57856};
  for (unsigned y = 0; y < rows; ++y) {
    for (unsigned x = 0; x < columns; ++x) {
      device.cores.push_back(core(CoreType::kTensix, x, y, Role::kWorker));
    }
  }
  for (unsigned x = 0; x < 2; ++x) {
    device.cores.push_back(core(CoreType::kTensix, x, rows, Role::kDispatch));
  }
  for (unsigned x = 0; x < 16; ++x) {
    device.cores.push_back(core(CoreType::kActiveEth, x, 0, Role::kActiveEth));
  }
  return device;
}

AllocatorRecord wormhole_allocator(SetIndex set, unsigned workers, std::uint64_t l1_small_bytes) {
  AllocatorRecord allocator;
  allocator.set = set;
  allocator.open = true;
  allocator.spaces[0] = {12, kDramBase, kDramBankBytes, 32, {}, {}};
  const std::uint64_t l1_end = kL1Bytes - l1_small_bytes;
  allocator.spaces[1] = {workers, kProgramBase, l1_end - kProgramBase, 16, {}, {}};
  if (l1_small_bytes > 0) allocator.spaces[3] = {workers, l1_end, l1_small_bytes, 16, {}, {}};
  allocator.spaces[4] = {12, kDramBase + kDramBankBytes, 8 << 20, 32, {}, {}};
  return allocator;
}

World::World(unsigned count, unsigned columns, unsigned rows, std::uint64_t first_id)
    : columns_(columns), rows_(rows) {
  for (unsigned i = 0; i < count; ++i) {
    const auto index = static_cast<DeviceIndex>(i + 1);
    ledger.set_device(index, wormhole(first_id + i, static_cast<int>(first_id + i), columns, rows));
    ledger.set_counters(index, {});
  }
}

SetIndex World::set(const std::vector<DeviceIndex>& devices) {
  ledger.set_device_set(next_set_, {devices, 1, static_cast<std::uint16_t>(devices.size()), 0});
  return next_set_++;
}

AllocatorIndex World::allocator(SetIndex set, std::uint64_t l1_small_bytes, bool per_core) {
  AllocatorRecord record = wormhole_allocator(set, columns_ * rows_, l1_small_bytes);
  record.per_core = per_core;
  ledger.set_allocator(next_allocator_, record);
  return next_allocator_++;
}

CoresId World::cores(CoreRange range, CoreType type) {
  const auto [place, is_new] =
      cores_.try_emplace({type, range.x0, range.y0, range.x1, range.y1}, next_id_);
  if (is_new) {
    ledger.set_cores(next_id_++, {type, {range}, {}, 0});
  }
  return place->second;
}

StringId World::string(const std::string& text) {
  ledger.set_string(next_id_, text);
  return next_id_++;
}

void World::put(SlotIndex slot, const Record& record) {
  table_[slot] = record;
  ledger.apply(slot, record);
}

void World::clear(SlotIndex slot) {
  table_.erase(slot);
  ledger.apply(slot, std::monostate());
}

void World::launch(SlotIndex slot, const Launches& launches) {
  Record& record = table_.at(slot);
  if (auto* workload = std::get_if<WorkloadRecord>(&record)) workload->launches = launches;
  if (auto* trace = std::get_if<TraceRecord>(&record)) trace->launches = launches;
  ledger.set_launches(slot, launches);
}

SlotIndex World::apply(const Record& record) {
  put(next_slot_, record);
  return next_slot_++;
}

SlotIndex World::buffer(AllocatorIndex allocator, Space space, std::uint64_t address,
                        std::uint64_t block, std::uint64_t requested, CoresId on) {
  BufferRecord buffer;
  buffer.id = next_slot_;
  buffer.allocator = allocator;
  buffer.set = ledger.allocator(allocator)->set;
  buffer.space = space;
  buffer.address = address;
  buffer.block = block;
  buffer.requested = requested;
  buffer.cores = on;
  return apply(buffer);
}

void World::add_ranges(Registered& program, const std::vector<Cb>& cbs) {
  for (const SlotIndex slot : program.ranges) clear(slot);
  program.ranges.clear();
  std::uint32_t index = 0;
  for (const Cb& cb : cbs) {
    RangeRecord range;
    range.program = program.record.id;
    range.set = program.record.set;
    range.generation = program.record.generation;
    range.part = cb.part;
    range.address = cb.address;
    range.size = cb.size;
    range.index = index++;
    range.viewed_buffer = cb.viewed_buffer;
    range.cores = cores(cb.cores);
    program.ranges.push_back(apply(range));
  }
}

void World::program(std::uint64_t id, SetIndex set, const std::vector<Cb>& cbs,
                    const std::vector<Kernel>& kernels, KernelType type) {
  if (!workloads_.contains(id)) {
    workloads_[id] = {apply(WorkloadRecord{.id = id, .set = set}), {}};
    for (const Kernel& kernel : kernels) {
      KernelRecord record;
      record.program = id;
      record.hash = kernel.hash;
      record.name = kernel.name;
      record.packed_bytes = kernel.packed;
      record.core_type = kernel.core_type;
      record.cores = cores(kernel.cores, kernel.core_type);
      kernels_[id].push_back(apply(record));
    }
  }
  Registered& program = programs_[{id, set}];
  program.record.id = program.record.workload = id;
  program.record.set = set;
  program.record.type = type;
  add_ranges(program, cbs);
  if (program.slot == 0) program.slot = next_slot_++;
  put(program.slot, program.record);
}

void World::replace_ranges(std::uint64_t id, SetIndex set, const std::vector<Cb>& cbs) {
  Registered& program = programs_.at({id, set});
  ++program.record.generation;
  add_ranges(program, cbs);
  put(program.slot, program.record);
}

void World::dispatch(std::uint64_t id) {
  auto& [slot, launches] = workloads_.at(id);
  ++launches.count;
  launches.stamp = next_stamp_++;
  launches.last = launches.stamp;
  if (launches.first == 0) launches.first = launches.stamp;
  for (auto& [key, program] : programs_) {
    if (key.first != id || program.record.loaded) continue;
    program.record.loaded = true;
    put(program.slot, program.record);
  }
  launch(slot, launches);
}

void World::drop(std::uint64_t id) {
  for (auto place = programs_.begin(); place != programs_.end();) {
    if (place->first.first != id) {
      ++place;
      continue;
    }
    clear(place->second.slot);
    for (const SlotIndex slot : place->second.ranges) clear(slot);
    place = programs_.erase(place);
  }
  for (const SlotIndex slot : kernels_[id]) clear(slot);
  kernels_.erase(id);
  if (workloads_.contains(id)) clear(workloads_.at(id).first);
  workloads_.erase(id);
}

void World::hold(std::uint64_t id, SetIndex set) {
  Registered& program = programs_.at({id, set});
  program.record.held = true;
  put(program.slot, program.record);
}

void World::trace(std::uint64_t id, SetIndex set, const std::vector<TraceMember>& members) {
  TraceRecord record;
  record.id = id;
  record.set = set;
  record.members = next_id_;
  members_[next_id_] = members;
  ledger.set_members(next_id_++, members);
  traces_[id] = {apply(record), {}};
}

void World::replay(std::uint64_t id) {
  auto& [slot, launches] = traces_.at(id);
  ++launches.count;
  launches.stamp = next_stamp_++;
  launch(slot, launches);
}

void World::release_trace(std::uint64_t id) {
  clear(traces_.at(id).first);
  traces_.erase(id);
}

void World::close(DeviceIndex device) {
  DeviceRecord record = ledger.device(device);
  record.open = false;
  ledger.set_device(device, record);
}

void World::ring_manager(const RingManagerRecord& record) {
  ring_manager_ = record;
  ledger.set_ring_manager(0, record);
}

std::size_t World::holdings() const {
  std::size_t count = 0;
  ledger.for_each_holding([&count](const HoldingView&) { ++count; });
  return count;
}

ProcessLedger World::late_reader() const {
  ProcessLedger late;
  for (const auto& [slot, record] : table_) late.apply(slot, record);
  for (const auto& [id, members] : members_) late.set_members(id, members);
  for (const auto& [corners, id] : cores_) late.set_cores(id, *ledger.core_set(id));
  for (AllocatorIndex i = 1; i < next_allocator_; ++i) late.set_allocator(i, *ledger.allocator(i));
  for (SetIndex i = 1; i < next_set_; ++i) late.set_device_set(i, *ledger.device_set(i));
  for (const DeviceIndex i : ledger.devices()) {
    late.set_device(i, ledger.device(i));
    late.set_counters(i, {});
  }
  if (ring_manager_) late.set_ring_manager(0, *ring_manager_);
  return late;
}

std::uint64_t World::resident(DeviceIndex device) const {
  return figures(device).program_l1.resident.value();
}
std::uint64_t World::reserved(DeviceIndex device) const {
  return figures(device).program_l1.reserved.value();
}
std::uint64_t World::allocated(DeviceIndex device) const {
  return figures(device).program_l1.allocated.value();
}

ProcessInput World::input(int pid, bool alive) const {
  ProcessInput input;
  input.identity.key = static_cast<std::uint64_t>(pid);
  input.identity.pid = pid;
  input.identity.name = "python3";
  input.identity.alive = alive;
  input.identity.ended = alive ? Ended::kAlive : Ended::kDied;
  input.ledger = &ledger;
  return input;
}

std::string World::check(bool exact) const {
  PeakMemory peaks;
  const std::vector<ProcessInput> inputs = {input()};
  return check_everything(inputs, assemble(inputs, peaks), exact);
}

}  // namespace ttmem::ledger
