// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a large program cache costs a reader: 4,096 programs of 5 kernels and 8 circular buffers
// each, on various rectangles of 64 cores, on a mesh of 32 chips.
#include <malloc.h>
#include <time.h>

#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "ledger/process_ledger.hpp"

namespace {

using namespace ttmem::ledger;

constexpr DeviceIndex kChips = 32;
constexpr std::uint32_t kPrograms = 4096, kKernels = 5, kRanges = 8;
constexpr std::uint32_t kRecords = kKernels + kRanges + 2;  // and the workload and the program
constexpr std::uint8_t kSide = 8;

struct Slot {
  SlotIndex slot;
  Record record;
};
using Program = std::vector<Slot>;

// CPU time of this thread: nothing here waits for anything.
double microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

DeviceRecord chip(DeviceIndex index) {
  DeviceRecord device;
  device.unique_id = index;
  device.metal_id = index;
  device.open = true;
  device.grid_x = device.grid_y = kSide;
  device.geometry[0] = {1499136, 35008, 35008, 70656, 105664};
  return device;
}

// Every rectangle of the grid is a set of cores; its id follows from its corners.
void add_geometry(ProcessLedger& ledger) {
  DeviceSetRecord mesh;
  for (DeviceIndex i = 1; i <= kChips; ++i) {
    ledger.set_device(i, chip(i));
    ledger.set_counters(i, {});
    mesh.devices.push_back(i);
  }
  ledger.set_device_set(1, mesh);
  for (unsigned i = 0; i < kSide * kSide * kSide * kSide; ++i) {
    const auto x0 = static_cast<std::uint8_t>(i % kSide), y0 = static_cast<std::uint8_t>(i / 8 % 8);
    const auto x1 = static_cast<std::uint8_t>(i / 64 % 8), y1 = static_cast<std::uint8_t>(i / 512);
    if (x0 <= x1 && y0 <= y1)
      ledger.set_cores(i + 1, {CoreType::kTensix, {{x0, y0, x1, y1}}, {}, 0});
  }
}

CoresId random_cores(std::mt19937& random) {
  const unsigned x0 = random() % 8, y0 = random() % 8;
  const unsigned x1 = x0 + random() % (8 - x0), y1 = y0 + random() % (8 - y0);
  return x0 + y0 * 8 + x1 * 64 + y1 * 512 + 1;
}

Program make_program(std::uint32_t number, std::mt19937& random) {
  Program program;
  SlotIndex slot = number * kRecords;
  const std::uint64_t id = number + 1;
  WorkloadRecord workload;
  workload.id = id;
  workload.set = 1;
  workload.launches = {1, id, 1, 1};
  program.push_back({slot++, workload});
  const CoresId cores = random_cores(random);
  for (std::uint32_t i = 0; i < kKernels; ++i) {
    KernelRecord kernel;
    kernel.program = id;
    kernel.hash = random();
    kernel.packed_bytes = 4096 + random() % 4096;
    kernel.cores = cores;
    program.push_back({slot++, kernel});
  }
  std::uint64_t address = 105664;
  for (std::uint32_t i = 0; i < kRanges; ++i) {
    RangeRecord range;
    range.program = id;
    range.set = 1;
    range.address = address;
    range.size = 2048 * (1 + random() % 8);
    range.cores = cores;
    address += range.size + 32;
    program.push_back({slot++, range});
  }
  ProgramRecord record;
  record.id = record.workload = id;
  record.set = 1;
  record.loaded = true;
  program.push_back({slot++, record});
  return program;
}

std::vector<Program> make_programs(std::uint32_t count) {
  std::mt19937 random(1);
  std::vector<Program> programs;
  for (std::uint32_t i = 0; i < count; ++i) programs.push_back(make_program(i, random));
  return programs;
}

void add(ProcessLedger& ledger, const Program& program) {
  for (const Slot& slot : program) ledger.apply(slot.slot, slot.record);
}

void drop(ProcessLedger& ledger, const Program& program) {
  for (const Slot& slot : program) ledger.apply(slot.slot, std::monostate());
}

std::uint64_t ask_all(const ProcessLedger& ledger) {
  std::uint64_t sum = 0;
  for (DeviceIndex i = 1; i <= kChips; ++i) {
    const DeviceFigures figures = ledger.figures(i);
    sum += *figures.program_l1.resident + *figures.program_l1.reserved;
  }
  return sum;
}

// Programs come and go in batches; every one is counted before the batch ends.
void register_and_drop(benchmark::State& state) {
  constexpr std::uint32_t kBatch = 512;
  const auto alive = static_cast<std::uint32_t>(state.range(0));
  std::mt19937 random(2);
  ProcessLedger ledger;
  add_geometry(ledger);
  for (const Program& program : make_programs(alive)) add(ledger, program);
  benchmark::DoNotOptimize(ask_all(ledger));
  std::vector<Program> batch;
  for (std::uint32_t i = 0; i < kBatch; ++i) batch.push_back(make_program(alive + i, random));
  double sum = 0;
  std::uint64_t changes = 0;
  for (auto _ : state) {
    const double start = microseconds();
    for (const Program& program : batch) add(ledger, program);
    for (const Program& program : batch) drop(ledger, program);
    sum += microseconds() - start;
    changes += 2 * kBatch;
  }
  state.counters["value"] = sum / static_cast<double>(changes);
  state.counters["limit"] = 50;
  state.SetLabel("us; one program of 15 records on 32 chips comes or goes, counted");
}
BENCHMARK(register_and_drop)->Arg(16)->Arg(kPrograms);

// One program changes, then every figure of all 32 chips: what one refresh of a screen costs.
class Refresh {
 public:
  explicit Refresh(std::uint32_t alive) : next_(alive) {
    add_geometry(ledger_);
    for (const Program& program : make_programs(alive)) add(ledger_, program);
    benchmark::DoNotOptimize(ask_all(ledger_));
  }

  // Milliseconds, in the mean of a program that comes and goes.
  double operator()() {
    const Program program = make_program(next_, random_);
    const double start = microseconds();
    add(ledger_, program);
    benchmark::DoNotOptimize(ask_all(ledger_));
    drop(ledger_, program);
    benchmark::DoNotOptimize(ask_all(ledger_));
    return (microseconds() - start) / 2000;
  }

 private:
  std::uint32_t next_;
  std::mt19937 random_{2};
  ProcessLedger ledger_;
};

void refresh_all_chips(benchmark::State& state) {
  Refresh refresh(kPrograms);
  double sum = 0;
  std::uint64_t rounds = 0;
  for (auto _ : state) {
    sum += refresh();
    ++rounds;
  }
  state.counters["value"] = sum / static_cast<double>(rounds);
  state.counters["limit"] = 20;
  state.SetLabel("ms; one program changed, then every figure of 32 chips");
}
BENCHMARK(refresh_all_chips);

void refresh_growth(benchmark::State& state) {
  Refresh few(4), many(256);
  double few_sum = 0, many_sum = 0;
  for (auto _ : state) {
    few_sum += few();
    many_sum += many();
  }
  state.counters["value"] = many_sum / few_sum;
  state.counters["limit"] = 10;
  state.SetLabel("times; the same with 256 programs as against 4");
}
BENCHMARK(refresh_growth);

void first_load(benchmark::State& state) {
  const std::vector<Program> programs = make_programs(kPrograms);
  double sum = 0;
  std::size_t bytes = 0;
  std::uint64_t rounds = 0;
  for (auto _ : state) {
    const std::size_t before = mallinfo2().uordblks;
    const double start = microseconds();
    auto ledger = std::make_unique<ProcessLedger>();
    add_geometry(*ledger);
    for (const Program& program : programs) add(*ledger, program);
    benchmark::DoNotOptimize(ask_all(*ledger));
    sum += (microseconds() - start) / 1000;
    bytes = mallinfo2().uordblks - before;
    ++rounds;
  }
  state.counters["value"] = sum / static_cast<double>(rounds);
  state.counters["limit"] = 300;
  state.counters["memory_mib"] = static_cast<double>(bytes) / (1 << 20);
  state.counters["memory_mib_limit"] = 64;
  state.SetLabel("ms; 4,096 programs from the table, every figure of 32 chips; MiB kept");
}
BENCHMARK(first_load)->Unit(benchmark::kMillisecond);

// A million buffers into an empty ledger, then out again.
void apply_buffers(benchmark::State& state) {
  constexpr SlotIndex kBuffers = 1000000;
  double sum = 0;
  std::uint64_t rounds = 0;
  for (auto _ : state) {
    ProcessLedger ledger;
    add_geometry(ledger);
    AllocatorRecord allocator;
    allocator.set = 1;
    allocator.open = true;
    allocator.spaces[0] = {12, 1048640, 1072693184, 32, {}, {}};
    ledger.set_allocator(1, allocator);
    BufferRecord buffer;
    buffer.allocator = buffer.set = 1;
    buffer.block = buffer.requested = 1024;
    const double start = microseconds();
    for (SlotIndex i = 0; i < kBuffers; ++i) {
      buffer.id = i;
      buffer.address = 1048640 + std::uint64_t{i} * 7919 % kBuffers * 1024;
      ledger.apply(i, buffer);
    }
    sum += (microseconds() - start) * 1000 / kBuffers;
    ++rounds;
    benchmark::DoNotOptimize(ledger.figures(1));
  }
  state.counters["value"] = sum / static_cast<double>(rounds);
  state.counters["limit"] = 150;
  state.SetLabel("ns; one buffer into a ledger that grows to 10^6, one chip set of 32");
}
BENCHMARK(apply_buffers)->Unit(benchmark::kMillisecond);

}  // namespace
