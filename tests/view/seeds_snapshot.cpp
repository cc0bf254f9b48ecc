// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/seeds_snapshot.hpp"

namespace ttmem::test {
namespace {

using namespace ledger;

constexpr std::uint64_t kUniqueId = 0xDE30'0000'0000'0000;

SpaceFigures space(std::uint64_t capacity, std::uint64_t taken, std::uint64_t requested,
                   std::uint64_t count, std::uint64_t largest_free) {
  return {capacity, taken, taken, requested, taken, count, largest_free};
}

ProcessView process(std::int32_t pid, const char* name, bool alive) {
  ProcessView view;
  view.key = static_cast<std::uint64_t>(pid);
  view.pid = pid;
  view.start = 5000;
  view.name = name;
  view.command = std::string(name) + " --hold 60";
  view.user = "user1";
  view.uid = 1000;
  view.segment = "ttmem-" + std::to_string(pid) + "-5000-abc";
  view.alive = alive;
  view.ended = alive ? Ended::kAlive : Ended::kDied;
  view.started = kNow - 90 * kSecondNs;
  view.ended_at = alive ? 0 : kNow - 3 * kSecondNs;
  view.sources = {Source::kApi};
  view.events = 9;
  ProcessDeviceView device;
  device.unique_id = kUniqueId;
  device.metal_id = 0;
  device.open = true;
  device.in_mesh = true;
  device.figures = seeds_figures();
  view.devices.push_back(device);
  return view;
}

}  // namespace

DeviceFigures seeds_figures() {
  DeviceFigures figures;
  figures.space(Space::kDram) = space(12'872'318'208, 26'222'592, 26'214'400, 1, 1'070'507'968);
  figures.space(Space::kL1) = space(111'477'760, 1'146'880, 1'048'576, 1, 1'379'136);
  figures.space(Space::kL1Small) = space(0, 0, 0, 0, 0);
  figures.space(Space::kTrace) = space(0, 0, 0, 0, 0);
  figures.program_l1 = {2'211'840, 2'211'840, 2'211'840, 2'211'840, 1};
  figures.l1_capacity = 111'477'760;
  figures.kernels.by_type = {{{1, 1, 8'192'000}, {1, 1, 917'504}, {1, 1, 94'208}}};
  figures.kernels.by_core_type = {8'192'000, 917'504, 0, 0, 94'208};
  figures.kernels.registered = 0;
  figures.kernels.in_dram = 0;
  figures.kernels.unique_bytes = 57'344 + 47'104 + 102'400;
  figures.kernels.dispatches = 2;
  figures.kernels.first_loads = 1;
  figures.kernels.cache_hits = 1;
  figures.kernels.reloads = 0;
  figures.kernels.evictions = 0;
  figures.kernels.captures = 0;
  figures.kernels.replays = 0;
  RingFigures ring;
  ring.capacity = 70'656;
  ring.used = 28'672;
  ring.programs = 2;
  ring.largest_program = 14'336;
  ring.high_water = 28'672;
  ring.free = 56'320;  // the slice of the first launch is free again
  ring.largest_free = 41'984;
  figures.rings = {ring};
  figures.headroom = {1'351'488, 1'351'488, Core{CoreType::kTensix, 0, 0}};
  return figures;
}

Snapshot seeds_snapshot() {
  Snapshot snapshot;
  snapshot.host = "box";
  snapshot.boot_id = "00000000-0000-0000-0000-000000000001";
  snapshot.time = kNow;
  snapshot.directories = {"/dev/shm/ttmem-1000"};
  DeviceView device;
  device.unique_id = kUniqueId;
  device.board = "demo";
  device.arch = Arch::kWormholeB0;
  device.mock = true;
  device.grid_x = 8;
  device.grid_y = 10;
  device.tensix_cores = 80;
  device.eth_cores = 16;
  device.dispatch_cores = 2;
  device.l1_bytes_per_core = 1'499'136;
  device.dram_banks = 12;
  device.processes = 1;
  device.figures = seeds_figures();
  snapshot.devices = {device};
  snapshot.processes = {process(4711, "ttmem-demo-1", true), process(4712, "ttmem-demo-2", false)};
  return snapshot;
}

}  // namespace ttmem::test
