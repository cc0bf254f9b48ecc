// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/example_frame.hpp"

#include <fmt/format.h>

#include "support/owners.hpp"

namespace ttmem::top {
namespace {

using ledger::CoreType;
using ledger::Role;
using ledger::Space;
using ledger::Stretch;

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
constexpr std::uint64_t kSecond = 1'000'000'000;

ledger::DeviceView device(std::uint32_t id, bool blackhole) {
  ledger::DeviceView device;
  device.id = id;
  device.unique_id = 0x1000 + id;
  device.board = blackhole ? "p150" : "n150";
  device.arch = blackhole ? ledger::Arch::kBlackhole : ledger::Arch::kWormholeB0;
  device.mock = true;
  device.grid_x = blackhole ? 12 : 8;
  device.grid_y = blackhole ? 10 : 8;
  device.tensix_cores = std::uint32_t{device.grid_x} * device.grid_y;
  device.eth_cores = blackhole ? 14 : 16;
  device.dispatch_cores = 2;
  device.l1_bytes_per_core = blackhole ? 1572864 : 1499136;
  device.dram_banks = blackhole ? 8 : 12;
  const std::uint64_t usable = blackhole ? 1461248 : 1393472;
  device.figures.l1_capacity = usable * device.tensix_cores;
  device.figures.space(Space::kL1).taken = 0;
  device.figures.program_l1.resident = 0;
  device.figures.space(Space::kDram).capacity = blackhole ? 8 * 4277141376ull : 12 * 1072693184ull;
  device.figures.space(Space::kDram).taken = 0;
  device.figures.space(Space::kDram).largest_free = 870 * kMiB;
  device.figures.rings.push_back(
      {CoreType::kTensix, 0, 0, 70656, 28969, 3, 25000, 40000, 41687, 30656, 1, 0, 0});
  return device;
}

// Adds what a process has on a device to both.
void hold(ledger::ProcessView& process, ledger::DeviceView& device, std::uint64_t dram,
          std::uint64_t buffers, std::uint64_t program, std::uint64_t dispatches) {
  ledger::ProcessDeviceView on;
  on.id = device.id;
  on.unique_id = device.unique_id;
  on.open = on.in_mesh = true;
  ledger::DeviceFigures& figures = on.figures;
  figures.space(Space::kDram) = {device.figures.space(Space::kDram).capacity,
                                 dram,
                                 dram,
                                 dram - 1,
                                 dram + 3 * kMiB,
                                 120,
                                 870 * kMiB};
  figures.space(Space::kL1) = {{}, buffers, buffers, buffers, buffers + kMiB, 12, {}};
  figures.space(Space::kL1Small).taken = 64 * kKiB;
  figures.space(Space::kTrace).taken = 0;
  figures.program_l1.resident = program;
  figures.kernels.by_type[0] = {37, 12, 7 * kMiB + 800 * kKiB};
  figures.kernels.by_type[1] = {1, 1, 896 * kKiB};
  figures.kernels.by_type[2] = {2, 1, 92 * kKiB};
  figures.kernels.dispatches = dispatches;
  figures.kernels.cache_hits = dispatches - 12;
  figures.kernels.reloads = 3;
  figures.kernels.evictions = 4;
  figures.headroom = {312 * 1024, 280 * 1024, ledger::Core{CoreType::kTensix, 3, 4}};
  process.devices.push_back(on);
  if (!process.alive) return;
  ledger::DeviceFigures& sum = device.figures;
  const auto add = [](ledger::Figure& to, const ledger::Figure& from) {
    to = to.value_or(0) + from.value_or(0);
  };
  add(sum.space(Space::kDram).taken, dram);
  add(sum.space(Space::kL1).taken, buffers);
  add(sum.space(Space::kL1Small).taken, 64 * kKiB);
  add(sum.program_l1.resident, program);
  add(sum.kernels.dispatches, dispatches);
  add(sum.kernels.cache_hits, dispatches - 12);
  sum.kernels.reloads = 3;
  sum.kernels.evictions = 4;
  for (std::size_t i = 0; i < 3; ++i) {
    add(sum.kernels.by_type[i].footprint, figures.kernels.by_type[i].footprint);
    add(sum.kernels.by_type[i].count, figures.kernels.by_type[i].count);
  }
  sum.headroom = figures.headroom;
  ++device.processes;
}

ledger::RingView ring() {
  ledger::RingView ring;
  ring.process = test::owner(4711);
  ring.base = 35008;
  ring.figures.capacity = 70656;
  ring.figures.free = 30656;
  ring.figures.largest_free = 10656;
  ring.figures.would_evict = 2;
  ring.slices = {{35008, 55008, 1, "matmul", true, true},
                 {55008, 75008, 2, "softmax", true, false},
                 {85008, 95008, 3, "gone", false, false}};
  return ring;
}

ledger::ProcessView process(std::int32_t pid, std::string name, std::string user, bool alive,
                            std::uint64_t age_s) {
  ledger::ProcessView process;
  process.key = static_cast<std::uint64_t>(pid);
  process.pid = pid;
  process.start = 1000 + static_cast<std::uint64_t>(pid);
  process.command = name + " serve.py --model llama-3.1-8b --batch 32";
  process.name = std::move(name);
  process.user = std::move(user);
  process.segment = fmt::format("ttmem-{}-1-aa", pid);
  process.alive = alive;
  process.started = kExampleTime - age_s * kSecond;
  process.sources = {ledger::Source::kInjector};
  process.tracking.exact = true;
  process.runtime_version = "0.81.1";
  process.events = 48211;
  if (!alive) {
    process.ended = ledger::Ended::kDied;
    process.ended_at = kExampleTime - 125 * kSecond;
  }
  return process;
}

ledger::FailureView failure() {
  ledger::FailureView failure;
  failure.number = 1;
  failure.kind = "out_of_memory";
  failure.time = kExampleTime - 40 * kSecond;
  failure.message =
      "TT_FATAL @ bank_manager.cpp:514: false\ninfo:\nOut of Memory: Not enough space to allocate "
      "608256 B L1 buffer across 64 banks\nbacktrace:\n --- BankManager::allocate_buffer";
  failure.requested = 608256 * 64;
  failure.operation = "ttnn.conv2d";
  failure.holdings = 2;
  return failure;
}

void add_stretch(ledger::CoreView& core, Stretch kind, std::uint64_t bytes, std::string name = {},
                 std::int32_t pid = 0) {
  const std::uint64_t begin = core.map.empty() ? 0 : core.map.back().end;
  core.map.push_back(
      {kind, begin, begin + bytes, std::move(name), pid != 0 ? test::owner(pid) : nullptr});
}

ledger::CoreView worker(std::uint8_t x, std::uint8_t y) {
  ledger::CoreView core;
  core.core = {CoreType::kTensix, x, y};
  core.l1_bytes = 1499136;
  core.fixed = 35008;
  core.ring = 70656;
  core.program_l1 = (40 + 20 * static_cast<std::uint64_t>(x + y)) * kKiB;
  core.buffers = (x < 4 ? 500 : 120) * kKiB;
  core.l1_small = 32 * kKiB;
  core.free =
      *core.l1_bytes - core.fixed - core.ring - core.program_l1 - core.buffers - core.l1_small;
  core.headroom = static_cast<std::int64_t>(core.free);
  core.kernel_footprint = 20480;
  core.ring_used = 28969;
  add_stretch(core, Stretch::kFixed, core.fixed);
  add_stretch(core, Stretch::kRing, core.ring, "3 slices");
  add_stretch(core, Stretch::kProgramL1, 24 * kKiB, "c_0 of matmul", 4711);
  add_stretch(core, Stretch::kProgramL1, core.program_l1 - 24 * kKiB, "c_1 of matmul", 4711);
  add_stretch(core, Stretch::kFree, core.free);
  add_stretch(core, Stretch::kBuffer, core.buffers, "ttnn.to_layout", 4711);
  add_stretch(core, Stretch::kL1Small, core.l1_small, "halo config", 4711);
  return core;
}

ledger::CoreView other(CoreType type, Role role, std::uint8_t x) {
  ledger::CoreView core;
  core.core = {type, x, 0};
  core.role = role;
  core.l1_bytes = 262144;
  core.fixed = core.free = 131072;
  add_stretch(core, Stretch::kFixed, core.fixed);
  add_stretch(core, Stretch::kFree, core.free);
  return core;
}

DeviceDetails device_details() {
  DeviceDetails details;
  details.unique_id = 0x1000;
  for (std::uint8_t y = 0; y < 8; ++y) {
    for (std::uint8_t x = 0; x < 8; ++x) details.cores.push_back(worker(x, y));
  }
  for (std::uint8_t x = 0; x < 16; ++x) {
    details.cores.push_back(other(CoreType::kActiveEth, Role::kActiveEth, x));
  }
  for (std::uint8_t x = 0; x < 2; ++x) {
    details.cores.push_back(other(CoreType::kDispatch, Role::kDispatch, x));
  }
  const char* names[] = {"bmm_large_block_zm", "reader_bmm_tile_layout", "writer_bmm_tile_layout"};
  for (int i = 0; i < 3; ++i) {
    ledger::HoldingView kernel;
    kernel.kind = ledger::HoldingKind::kKernel;
    kernel.process = test::owner(4711);
    kernel.name = names[i];
    kernel.processor = static_cast<std::uint8_t>(i);
    kernel.packed = 12956u - 4000u * static_cast<unsigned>(i);
    kernel.cores = 64;
    kernel.footprint = *kernel.packed * 64;
    kernel.dispatches = 10422;
    kernel.cache_hits = 10418;
    kernel.reloads = 3;
    kernel.last_dispatch = kExampleTime - kSecond;
    details.kernels.push_back(kernel);
  }
  details.dram = {{1048640, 1048640 + 300 * kMiB}, {420 * kMiB, 480 * kMiB}};
  details.rings = {ring()};
  return details;
}

// Watched for four minutes; the later a program in the list, the less often it runs.
ledger::LaunchSeries launches(std::uint32_t number) {
  ledger::LaunchSeries series{
      .since = kExampleTime - 240 * kSecond, .until = kExampleTime, .intervals = {}};
  for (std::uint64_t second = 0; second < 240 && number != 4; ++second) {
    if (second / 20 % (number + 1) != 0) continue;
    const std::uint64_t time = (series.since / kSecond + second) * kSecond;
    series.intervals.push_back({time, 100 / (number + 1) + second % 7, 0, 0});
  }
  if (number == 1) series.mark(kExampleTime - 200 * kSecond, ledger::kMarkFirstLoad);
  if (number == 2) series.mark(kExampleTime - 100 * kSecond, ledger::kMarkReload);
  if (number == 2) series.mark(kExampleTime - 130 * kSecond, ledger::kMarkEviction);
  if (number == 3) series.mark(kExampleTime - 20 * kSecond, ledger::kMarkFailure);
  return series;
}

std::vector<ledger::ProgramView> programs() {
  std::vector<ledger::ProgramView> programs;
  const char* names[] = {"matmul", "softmax", "layernorm", "add", "", "fabric_router"};
  for (std::uint32_t i = 0; i < 6; ++i) {
    ledger::ProgramView program;
    program.process = test::owner(4711);
    program.id = i + 1;
    program.name = names[i];
    program.type = i == 5 ? ledger::KernelType::kFabric : ledger::KernelType::kApplication;
    program.loaded = i != 4;
    program.devices = {0, 1};
    program.kernels = 3;
    program.cores = 64 - i;
    program.footprint = program.loaded ? (900 - 100 * i) * kKiB : 0;
    program.l1_largest_core = (300 - 40 * i) * kKiB;
    program.config_bytes[0] = 12000 + i * 16;
    program.dispatches = program.loaded ? 10422 / (i + 1) : 0;
    program.cache_hits = program.loaded ? *program.dispatches - 1 - i : 0;
    program.reloads = program.loaded ? i : 0;
    program.first_dispatch = program.loaded ? kExampleTime - 600 * kSecond : 0;
    program.last_dispatch = program.loaded ? kExampleTime - i * kSecond : 0;
    program.dispatches_per_second = static_cast<double>(*program.dispatches) / 600;
    program.recent_per_second = program.loaded ? 17.4 / (i + 1) : 0;
    program.replays = i == 1 ? 512 : 0;
    program.launches = launches(i);
    programs.push_back(program);
  }
  return programs;
}

ProcessDetails process_details(ProcessId id) {
  ProcessDetails details;
  details.process = id;
  details.groups = {{"DRAM buffer", "ttnn.from_torch", 291, 2 * kGiB, 0,
                     kExampleTime - 600 * kSecond, kExampleTime - 500 * kSecond},
                    {"DRAM buffer", "kv_cache.grow", 64, 512 * kMiB, 96 * kMiB,
                     kExampleTime - 500 * kSecond, kExampleTime - 2 * kSecond},
                    {"L1 buffer", "ttnn.to_layout", 12, 12 * kMiB, 0, kExampleTime - 90 * kSecond,
                     kExampleTime - 80 * kSecond},
                    {"circular buffer", "matmul", 5, 8 * kMiB, 0, kExampleTime - 600 * kSecond,
                     kExampleTime - 600 * kSecond},
                    {"Application kernel", "bmm_large_block_zm", 1, 829184, 0,
                     kExampleTime - 600 * kSecond, kExampleTime - 600 * kSecond}};
  return details;
}

}  // namespace

namespace {

// Two ranks that live, one that died and one that is on no host that we know: all of one job.
void name_job(std::vector<ledger::ProcessView>& processes) {
  std::uint32_t rank = 0;
  for (const std::size_t index : {1u, 2u, 4u}) {
    ledger::Job& job = processes[index].job;
    job.key = "rack/31.0";
    job.name = "llama";
    job.source = ledger::JobSource::kSlurm;
    job.rank = rank++;
    job.ranks = 4;
    job.mesh = 0;
  }
}

}  // namespace

Frame example_frame() {
  Frame frame;
  ledger::Snapshot& snapshot = frame.snapshot;
  snapshot.host = "lab7";
  snapshot.time = kExampleTime;
  for (std::uint32_t id = 0; id < 4; ++id) snapshot.devices.push_back(device(id, id >= 2));
  auto& devices = snapshot.devices;
  devices[1].host.emplace();
  devices[1].host->temperature_millidegrees = 47'300;
  devices[1].host->power_microwatts = 65'000'000;
  devices[1].host->aiclk_mhz = 1000;
  snapshot.processes = {process(4711, "python3", "user1", true, 4000),
                        process(4800, "vllm-worker", "user2", true, 86400 * 3),
                        process(4805, "推論サーバー", "user2", true, 300),
                        process(4900, "pytest", "user1", true, 42),
                        process(3001, "python3", "user1", false, 5000),
                        process(3050, "train.py", "user3", false, 800)};
  auto& processes = snapshot.processes;
  hold(processes[0], devices[0], 4900 * kMiB, 12 * kMiB, 8 * kMiB, 10422);
  hold(processes[0], devices[1], 4900 * kMiB, 12 * kMiB, 8 * kMiB, 10422);
  hold(processes[1], devices[2], 26 * kGiB, 96 * kMiB, 40 * kMiB, 200000);
  hold(processes[2], devices[3], 3 * kGiB, kMiB, 2 * kMiB, 12);
  hold(processes[3], devices[3], 20 * kMiB, 0, kMiB, 99);
  hold(processes[4], devices[0], 900 * kMiB, 3 * kMiB, 0, 50);
  hold(processes[5], devices[2], 11 * kGiB, 0, 2 * kMiB, 5000);
  processes[3].failures = {failure()};
  processes[3].tracking.exact = {};
  processes[5].ended = ledger::Ended::kClosed;
  processes[4].failures = {failure()};
  name_job(processes);
  frame.device = device_details();
  frame.programs = programs();
  frame.process = process_details(process_id(processes[0]));
  for (int i = 0; i < 40; ++i) {
    frame.events.push_back(std::make_shared<EventLine>(EventLine{
        i % 7 == 0 ? ledger::EventKind::kProgramLoaded : ledger::EventKind::kBufferAllocated,
        fmt::format("20:31:{:02}.000000     4711 python3          device 0     {}", i,
                    i % 7 == 0 ? "program_loaded      application program 0x2a matmul, 3 kernels"
                               : "buffer_allocated    DRAM 2.0 MiB requested, 2.0 MiB taken, id "
                                 "0x1f at 0x40000  ttnn.from_torch")}));
  }
  return frame;
}

History example_history(const Frame& frame) {
  History history;
  ledger::Snapshot snapshot = frame.snapshot;
  for (std::uint64_t second = 120; second > 0; --second) {
    snapshot.time = frame.snapshot.time - second * kSecond;
    auto& figures = snapshot.processes[0].devices[0].figures;
    figures.space(Space::kDram).taken = (4900 - 30 * second) * kMiB;
    figures.space(Space::kDram).requested = figures.space(Space::kDram).taken;
    figures.kernels.dispatches = 10422 - 7 * second;
    snapshot.devices[0].figures.space(Space::kDram).taken = (4900 - 30 * second) * kMiB;
    history.add(snapshot);
  }
  history.add(frame.snapshot);
  return history;
}

Frame crowded_frame(int devices, int processes) {
  Frame frame;
  frame.snapshot.host = "cluster-head";
  frame.snapshot.time = kExampleTime;
  for (int id = 0; id < devices; ++id) {
    frame.snapshot.devices.push_back(device(static_cast<std::uint32_t>(id), id % 2 == 1));
  }
  for (int i = 0; i < processes; ++i) {
    frame.snapshot.processes.push_back(
        process(10000 + i, fmt::format("worker-{}", i), i % 3 == 0 ? "user1" : "user2", true, 100));
    for (int k = 0; k < 2; ++k) {
      hold(frame.snapshot.processes.back(),
           frame.snapshot.devices[static_cast<std::size_t>((i + k) % devices)],
           static_cast<std::uint64_t>(1 + i % 40) * kMiB, 64 * kKiB, 32 * kKiB, 100);
    }
  }
  return frame;
}

Frame fleet_frame() {
  Frame frame;
  frame.snapshot.host = "http://engine:9090";
  frame.snapshot.time = kExampleTime;
  FleetDetails& details = frame.fleet.emplace();
  details.fleet.source = frame.snapshot.host;
  for (std::uint64_t i = 0; i < 4; ++i) {
    fleet::HostRow host;
    host.name = fmt::format("node{}:7171", i);
    host.devices = 8;
    host.processes = i;
    host.dram = (90 - 20 * i) * kGiB;
    host.dram_capacity = 96 * kGiB;
    host.l1 = 200 * kMiB;
    host.l1_capacity = 700 * kMiB;
    host.headroom = i == 1 ? -4096 : static_cast<std::int64_t>(300 * kKiB);
    if (i == 3) {
      host = {host.name, fleet::HostState::kStale, "told nothing for 7 m 00 s", 420 * kSecond};
    }
    details.fleet.hosts.push_back(host);
  }
  fleet::JobRow job;
  job.key = "rack/31.0";
  job.name = "llama";
  job.user = "user2";
  job.hosts = 2;
  job.present = 7;
  job.expected = 8;
  job.died = 1;
  job.dram = 140 * kGiB;
  job.l1 = 300 * kMiB;
  job.dram_least = 19 * kGiB;
  job.dram_most = 21 * kGiB;
  job.headroom = -4096;
  job.headroom_rank = "5";
  job.headroom_host = "node1:7171";
  job.first_death = fleet::FirstDeath{kExampleTime, "6", "node1:7171", 19 * kGiB, std::nullopt};
  details.fleet.jobs = {job};
  details.fleet.alerts = {"TtmemClash on node1:7171 device 3"};
  details.host = "node0:7171";
  details.devices = {
      {"0", "0x1000", "n300", 11 * kGiB, 12 * kGiB, 20 * kMiB, 90 * kMiB, 1024, 1, 47.3, 65},
      {"1",
       "0x1001",
       "n300",
       std::nullopt,
       12 * kGiB,
       std::nullopt,
       90 * kMiB,
       std::nullopt,
       0,
       {},
       {}}};
  details.job = JobId{job.key, job.user};
  fleet::JobRow part = job;
  part.present = 4;
  part.died = 0;
  part.headroom = 1024;
  part.headroom_rank = "2";
  details.parts = {{"node0:7171", part}, {"node1:7171", job}};
  return frame;
}

}  // namespace ttmem::top
