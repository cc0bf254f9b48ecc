// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Records in any order and with any numbers, into the ledgers of two processes on the same chips.
// What makes no sense is dangling: nothing may crash, turn negative, or stop adding up.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "../ledger/check_sums.cpp"  // one source a target
#include "ledger/assemble.hpp"

namespace {

using namespace ttmem::ledger;

// Small numbers from the input, so that ids meet; large ones now and then, so that sums overflow.
class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), end_(bytes + size) {}
  bool empty() const { return bytes_ == end_; }
  std::uint8_t byte() { return empty() ? 0 : *bytes_++; }
  bool flag() { return byte() % 2 == 1; }
  std::uint64_t number() {
    const std::uint8_t first = byte();
    if (first < 200) return first;
    if (first < 240) return 105664 + 4096ull * byte();
    return ~0ull >> (first % 16 * 4);
  }
  template <typename T>
  T as() {
    return static_cast<T>(number());
  }
  CoreRange range() {
    const std::uint8_t x = byte() % 6, y = byte() % 6;
    return {x, y, static_cast<std::uint8_t>(x + byte() % 4), byte()};
  }

 private:
  const std::uint8_t* bytes_;
  const std::uint8_t* end_;
};

DeviceRecord device(Input& in) {
  DeviceRecord record;
  record.unique_id = in.byte() % 4;
  if (in.flag()) record.metal_id = static_cast<std::int32_t>(in.byte() % 4) - 1;
  record.open = in.flag();
  record.grid_x = in.byte() % 8;
  record.grid_y = in.byte() % 8;
  for (CoreGeometry& geometry : record.geometry) {
    geometry = {in.as<std::uint32_t>(), in.as<std::uint32_t>(), in.as<std::uint32_t>(),
                in.as<std::uint32_t>(), in.as<std::uint32_t>()};
  }
  for (unsigned i = in.byte() % 8; i > 0; --i) {
    CoreRecord core;
    core.core = {static_cast<CoreType>(in.byte() % 6), static_cast<std::uint8_t>(in.byte() % 8),
                 static_cast<std::uint8_t>(in.byte() % 8)};
    core.role = static_cast<Role>(in.byte() % 7);
    record.cores.push_back(core);
  }
  return record;
}

AllocatorRecord allocator(Input& in) {
  AllocatorRecord record;
  record.set = in.byte() % 4;
  record.per_core = in.flag();
  record.open = in.flag();
  for (SpaceRecord& space : record.spaces) {
    space.banks = in.as<std::uint32_t>();
    space.base = in.number();
    space.bank_bytes = in.number();
    if (in.flag()) space.bank_cores = {{CoreType::kTensix, 1, 1}, {CoreType::kTensix, 0, 0}};
  }
  return record;
}

Record buffer(Input& in) {
  BufferRecord record;
  record.id = in.number();
  record.address = in.number();
  record.core_addresses = in.byte() % 4;
  record.requested = in.number();
  record.block = in.number();
  record.set = in.byte() % 4;
  record.allocator = in.byte() % 4;
  record.space = static_cast<Space>(in.byte() % 8);
  record.per_core = in.flag();
  record.cores = in.byte() % 6;
  record.flags = {in.flag(), in.flag(), in.flag(), in.byte() % 8 == 0, in.byte() % 8 == 0};
  return record;
}

Record program(Input& in) {
  ProgramRecord record;
  record.id = in.byte() % 8;
  record.workload = in.byte() % 8;
  record.type = static_cast<KernelType>(in.byte() % 4);
  record.set = in.byte() % 4;
  record.generation = in.byte() % 2;
  record.loaded = in.flag();
  record.held = in.byte() % 4 == 0;
  record.flags.estimated = in.byte() % 8 == 0;
  record.flags.requested_only = in.byte() % 8 == 0;
  return record;
}

Record kernel(Input& in) {
  KernelRecord record;
  record.program = in.byte() % 8;
  record.hash = in.byte() % 4;
  record.packed_bytes = in.as<std::uint32_t>();
  record.core_type = static_cast<CoreType>(in.byte() % 5);
  record.cores = in.byte() % 6;
  return record;
}

Record range(Input& in) {
  RangeRecord record;
  record.program = in.byte() % 8;
  record.set = in.byte() % 4;
  record.generation = in.byte() % 2;
  record.part = static_cast<Part>(in.byte() % 5);
  record.address = in.number();
  record.size = in.number();
  record.viewed_buffer = in.number();
  record.cores = in.byte() % 6;
  return record;
}

Launches launches(Input& in) { return {in.number(), in.number(), in.number(), in.number()}; }

Record workload(Input& in) {
  return WorkloadRecord{.id = in.byte() % 8u,
                        .set = static_cast<SetIndex>(in.byte() % 4),
                        .binaries = {},
                        .loads = in.byte(),
                        .reloads = in.byte(),
                        .launches = launches(in)};
}

Record trace(Input& in) {
  TraceRecord record;
  record.id = in.byte() % 4;
  record.set = in.byte() % 4;
  record.members = in.byte() % 4;
  record.launches = launches(in);
  return record;
}

RingManagerRecord rings(Input& in) {
  RingManagerRecord record;
  record.set = in.byte() % 4;
  record.open = in.flag();
  record.evictions = in.number();
  RingRecord ring;
  ring.core_type = static_cast<CoreType>(in.byte() % 6);
  ring.base = in.as<std::uint32_t>();
  ring.bytes = in.as<std::uint32_t>();
  ring.largest_bytes = in.as<std::uint32_t>();
  ring.high_water = in.as<std::uint32_t>();
  for (unsigned i = in.byte() % 8; i > 0; --i) {
    ring.slices.push_back({in.as<std::uint32_t>(), in.as<std::uint32_t>(), in.number()});
  }
  record.rings = {ring};
  return record;
}

void step(ProcessLedger& ledger, Input& in) {
  static constexpr Record (*kRecords[])(Input&) = {buffer, program, kernel, range, workload, trace};
  const std::uint8_t what = in.byte() % 20;
  const auto slot = static_cast<SlotIndex>(in.byte() % 64);
  if (what < 12) {
    ledger.apply(slot, kRecords[what % 6](in));
    return;
  }
  switch (what) {
    case 12:
      return ledger.set_device(in.byte() % 4, device(in));
    case 13:
      return ledger.set_device_set(
          in.byte() % 4, {{static_cast<DeviceIndex>(in.byte() % 5), in.byte(), 1}, 0, 0, 0});
    case 14:
      return ledger.set_allocator(in.byte() % 4, allocator(in));
    case 15:
      return ledger.set_cores(in.byte() % 6, {static_cast<CoreType>(in.byte() % 5),
                                              {in.range(), in.range()},
                                              {},
                                              in.as<std::uint32_t>()});
    case 16:
      ledger.set_addresses(in.byte() % 4, {in.number(), in.number()});
      return ledger.set_members(
          in.byte() % 4,
          {{in.byte() % 8u, static_cast<SetIndex>(in.byte() % 4)}, {in.byte() % 8u, 1}});
    case 17:
      return ledger.set_launches(slot, launches(in));
    case 18:
      ledger.set_counters(in.byte() % 4, {});
      return ledger.set_ring_manager(in.byte() % 3, rings(in));
    default:
      ledger.apply(in.flag() ? slot : in.as<SlotIndex>(), std::monostate());
  }
}

void must(const std::string& wrong) {
  if (wrong.empty()) return;
  std::fprintf(stderr, "does not hold: %s\n", wrong.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Input in(bytes, size);
  ProcessLedger ledgers[2];
  while (!in.empty()) step(ledgers[in.flag() ? 1 : 0], in);
  std::vector<ProcessInput> inputs(2);
  for (int i = 0; i < 2; ++i) {
    inputs[i].identity.key = inputs[i].identity.pid = i + 1;
    inputs[i].identity.alive = i == 0 || size % 2 == 0;
    inputs[i].ledger = &ledgers[i];
  }
  PeakMemory peaks;
  const Snapshot snapshot = assemble(inputs, peaks);
  must(check_everything(inputs, snapshot, false));
  for_each_holding(inputs, snapshot, [](const HoldingView&) {});
  all_programs(inputs, snapshot);
  // What is released is gone, whatever it was.
  for (ProcessLedger& ledger : ledgers) {
    for (SlotIndex slot = 0; slot < 64; ++slot) ledger.apply(slot, std::monostate());
    for (const DeviceIndex device : ledger.devices()) {
      const DeviceFigures figures = ledger.figures(device);
      if (figures.space(Space::kDram).taken != 0u || figures.l1_used() != 0u ||
          figures.kernels.total().footprint != 0u || figures.program_l1.allocated != 0u) {
        must("all released, and not zero");
      }
    }
  }
  return 0;
}
