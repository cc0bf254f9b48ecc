// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A machine made of files: devices of the driver, processes, and the regions of a stock TT-Metal.
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/collector.hpp"
#include "collect/host_processes.hpp"
#include "collect/sysfs.hpp"
#include "collect/upstream.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

namespace fs = std::filesystem;

class Host : public testing::Test {
 protected:
  void SetUp() override {
    write("proc/sys/kernel/random/boot_id", "6f0c1d2e-0000-4000-8000-000000000001\n");
    write("proc/stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n");
    fs::create_directories(root / "dev/shm");
  }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path, std::ios::binary) << text;
  }

  void add_process(int pid, const std::string& name, unsigned start, char state = 'S') {
    const fs::path proc = fmt::format("proc/{}", pid);
    std::string fields;
    for (int field = 4; field < 22; ++field) fields += " 0";
    write(proc / "stat", fmt::format("{} ({}) {}{} {} 0 0\n", pid, name, state, fields, start));
    write(proc / "cmdline", name + std::string("\0--flag\0", 8));
    write(proc / "cgroup", "0::/user.slice\n");
    write(proc / "status", fmt::format("Name:\t{}\nNSpid:\t{}\n", name, pid));
  }

  void add_device(int node, const std::string& asic, const std::string& serial,
                  const std::string& pids) {
    const fs::path device = fmt::format("sys/class/tenstorrent/tenstorrent!{}", node);
    const std::string bus = fmt::format("0000:6{}:00.0", node);
    const fs::path pci = fs::path("sys/devices/pci0000:00") / bus;
    write(pci / "device", "0x401e\n");
    write(pci / "hwmon/hwmon3/name", "wormhole\n");
    write(pci / "hwmon/hwmon3/temp1_input", "45300\n");
    write(pci / "hwmon/hwmon3/power1_input", "18000000\n");
    write(pci / "hwmon/hwmon3/in0_input", "65535\n");
    write(device / "tt_asic_id", asic + "\n");
    write(device / "tt_serial", serial + "\n");
    write(device / "tt_card_type", "n300\n");
    write(device / "tt_aiclk", "1000\n");
    fs::create_directory_symlink(fs::path("../../../devices/pci0000:00") / bus,
                                 root / device / "device");
    write(fmt::format("proc/driver/tenstorrent/{}/pids", node), pids);
  }

  struct Row {
    std::int32_t pid;
    std::array<std::uint64_t, 5> bytes;
    std::uint64_t updated_ns;
    std::string name;
  };
  std::string region(std::uint32_t layout, std::uint64_t id, const std::vector<Row>& rows) {
    std::string bytes(kUpstreamBytes, '\0');
    const auto put = [&](std::size_t at, const auto& value) {
      std::memcpy(bytes.data() + at, &value, sizeof value);
    };
    put(0, layout);
    put(32, id);
    if (layout == 4) put(8536, std::uint32_t{0x52454459});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t at = 856 + 120 * i;
      put(at, rows[i].pid);
      put(at + 8, rows[i].bytes);
      put(at + 48, rows[i].updated_ns);
      rows[i].name.copy(bytes.data() + at + 56, 64);
    }
    return bytes;
  }
  void add_region(std::uint64_t id, const std::string& bytes) {
    write(fmt::format("dev/shm/tt_device_{}_memory", id), bytes);
  }

  ledger::Snapshot snapshot() {
    Collector collector({.root = root.string(), .host = true});
    collector.refresh();
    return collector.snapshot();
  }

  support::TemporaryDirectory folder{"/tmp"};
  fs::path root = folder.path();
};

constexpr std::uint64_t kLater = 1'700'000'500'000'000'000;  // after every start below

TEST_F(Host, NoDriverNoDevices) {
  const ledger::Snapshot now = snapshot();
  EXPECT_TRUE(now.devices.empty());
  EXPECT_TRUE(now.processes.empty());
}

TEST_F(Host, DevicesAndTheirUsersAppearWithoutData) {
  add_process(41, "python3", 100);
  add_device(0, "00000000000000A1", "0100014511704010", "41\n41\n999\n0\n");
  const ledger::Snapshot now = snapshot();
  ASSERT_EQ(now.devices.size(), 1u);
  const ledger::DeviceView& device = now.devices[0];
  EXPECT_EQ(device.unique_id, 0xA1u);
  EXPECT_EQ(device.board, "n300");
  EXPECT_EQ(device.arch, ledger::Arch::kWormholeB0);
  EXPECT_EQ(device.processes, 1u);
  ASSERT_TRUE(device.host);
  EXPECT_EQ(device.host->bus, "0000:60:00.0");
  EXPECT_EQ(device.host->temperature_millidegrees, 45300);
  EXPECT_EQ(device.host->power_microwatts, 18000000);
  EXPECT_EQ(device.host->aiclk_mhz, 1000);
  EXPECT_FALSE(device.host->voltage_millivolts) << "65535 is what a reset reads";
  EXPECT_FALSE(device.host->fan_rpm);
  EXPECT_FALSE(device.figures.space(ledger::Space::kDram).taken) << "not known is not zero";
  ASSERT_EQ(now.processes.size(), 1u) << "999 is gone";
  EXPECT_EQ(now.processes[0].name, "python3");
  EXPECT_EQ(now.processes[0].command, "python3 --flag");
  EXPECT_EQ(now.processes[0].sources, std::vector{ledger::Source::kProcfs});
  ASSERT_EQ(now.unreadable.size(), 1u);
  EXPECT_NE(now.unreadable[0].find("not visible from this pid namespace"), std::string::npos);
}

TEST_F(Host, TheCommandOfAnotherUserIsHiddenFromThoseWhoMayNotHaveIt) {
  add_process(41, "python3", 100);
  add_device(0, "00000000000000A1", "0100014511704010", "41\n");
  Collector collector({.root = root.string(), .host = true, .words_of_user = ::geteuid() + 1});
  collector.refresh();
  ASSERT_EQ(collector.snapshot().processes.size(), 1u);
  EXPECT_TRUE(collector.snapshot().processes[0].hidden);
  EXPECT_EQ(collector.snapshot().processes[0].command, "");
}

TEST_F(Host, ADeviceThatNobodyUsesShowsZero) {
  add_device(0, "00000000000000A1", "0100014511704010", "");
  const ledger::Snapshot now = snapshot();
  ASSERT_EQ(now.devices.size(), 1u);
  EXPECT_EQ(now.devices[0].figures.space(ledger::Space::kDram).taken, 0u);
}

TEST_F(Host, WhoReadsOftenLooksAtTheHostNowAndThen) {
  Collector rarely({.root = root.string(), .host = true, .host_every_ms = 3'600'000});
  Collector always({.root = root.string(), .host = true});
  for (Collector* collector : {&rarely, &always}) collector->refresh();
  add_process(41, "python3", 100);
  add_device(0, "00000000000000A1", "0100014511704010", "41\n");
  add_region(0xA1, region(4, 0xA1, {{41, {4194304, 0, 0, 0, 0}, kLater, "python3"}}));
  for (Collector* collector : {&rarely, &always}) collector->refresh();
  EXPECT_FALSE(rarely.changed());
  EXPECT_TRUE(rarely.snapshot().processes.empty());
  EXPECT_TRUE(always.changed());
  EXPECT_EQ(always.snapshot().processes.size(), 1u);
}

TEST_F(Host, OldDriversHaveNoListAndLinksTell) {
  add_process(41, "python3", 100);
  add_device(0, "00000000000000A1", "0100014511704010", "");
  fs::remove(root / "proc/driver/tenstorrent/0/pids");
  fs::create_directories(root / "proc/41/fd");
  fs::create_symlink("/dev/tenstorrent/0", root / "proc/41/fd/7");
  EXPECT_EQ(snapshot().processes.size(), 1u);
}

TEST_F(Host, UpstreamProcessesCountInEveryLayout) {
  add_process(41, "python3", 100);
  for (const std::uint32_t layout : {2u, 3u, 4u}) {
    add_region(0xA1,
               region(layout, 0xA1, {{41, {4194304, 1000, 20, 3, 786432}, kLater, "python3"}}));
    const ledger::Snapshot now = snapshot();
    ASSERT_EQ(now.processes.size(), 1u) << layout;
    EXPECT_EQ(now.processes[0].sources, std::vector{ledger::Source::kUpstream});
    const ledger::DeviceFigures& figures = now.devices.at(0).figures;
    EXPECT_EQ(figures.space(ledger::Space::kDram).requested, 4194304u);
    EXPECT_EQ(figures.space(ledger::Space::kL1).requested, 1000u);
    EXPECT_EQ(figures.space(ledger::Space::kL1Small).requested, 20u);
    EXPECT_EQ(figures.space(ledger::Space::kTrace).requested, 3u);
    EXPECT_EQ(figures.program_l1.reserved, 786432u);
    EXPECT_FALSE(figures.space(ledger::Space::kDram).taken);
    EXPECT_EQ(figures.basis, ledger::Basis::kRequested);
  }
}

TEST_F(Host, RowsOfTheDeadAreLeftOutAndSaid) {
  add_process(41, "python3", 100);
  add_process(42, "zombie", 100, 'Z');
  add_process(43, "newcomer", 90'000'000);  // began long after the row was written
  add_region(0xA1, region(3, 0xA1,
                          {{41, {100, 0, 0, 0, 0}, kLater, "python3"},
                           {42, {200, 0, 0, 0, 0}, kLater, "zombie"},
                           {43, {400, 0, 0, 0, 0}, kLater, "before"},
                           {44, {800, 0, 0, 0, 0}, kLater, "gone"},
                           {-1, {1600, 0, 0, 0, 0}, kLater, "leaving"},
                           {0, {3200, 0, 0, 0, 0}, kLater, "free"}}));
  const ledger::Snapshot now = snapshot();
  EXPECT_EQ(now.processes.size(), 1u);
  EXPECT_EQ(now.devices.at(0).figures.space(ledger::Space::kDram).requested, 100u);
  EXPECT_EQ(now.left_behind.size(), 3u);
}

TEST_F(Host, WrappedValuesAreNotAdded) {
  add_process(41, "python3", 100);
  add_region(0xA1, region(3, 0xA1, {{41, {~0ull - 57343, 7, 0, 0, 0}, kLater, "python3"}}));
  const ledger::DeviceFigures figures = snapshot().devices.at(0).figures;
  EXPECT_FALSE(figures.space(ledger::Space::kDram).requested);
  EXPECT_EQ(figures.space(ledger::Space::kL1).requested, 7u);
}

TEST_F(Host, BadRegionsAreSaidAndChangeNothing) {
  add_region(1, "short");
  add_region(2, region(5, 2, {}));
  add_region(3, region(3, 77, {}));
  add_region(4, "");                // being made
  add_region(5, region(0, 5, {}));  // being made
  std::string early = region(4, 6, {});
  early[8536] = '\0';
  add_region(6, early);                        // being made
  write("dev/shm/tt_device_7_util", "other");  // not a region
  write("dev/shm/tt_device_99999999999999999999999_memory", "other");
  fs::create_directory(root / "dev/shm/tt_device_8_memory");
  const ledger::Snapshot now = snapshot();
  EXPECT_TRUE(now.processes.empty());
  EXPECT_EQ(now.unreadable.size(), 4u);
}

TEST_F(Host, DriverAndRegionAreJoinedByAsicIdAndBySerial) {
  add_process(41, "python3", 100);
  add_device(0, "00000000000000A1", "0100014511704010", "41\n");
  add_device(1, "00000000000000A2", "0100014511704011", "41\n");
  add_region(0xA1, region(3, 0xA1, {{41, {100, 0, 0, 0, 0}, kLater, "python3"}}));
  add_region(0x0100014511704011,
             region(3, 0x0100014511704011, {{41, {200, 0, 0, 0, 0}, kLater, "python3"}}));
  const ledger::Snapshot now = snapshot();
  ASSERT_EQ(now.devices.size(), 2u);
  ASSERT_EQ(now.processes.size(), 1u);
  EXPECT_EQ(now.processes[0].devices.size(), 2u) << "each chip once";
  for (const ledger::DeviceView& device : now.devices) {
    ASSERT_TRUE(device.host);
    EXPECT_EQ(device.host->joined_by, device.unique_id == 0xA1 ? "asic_id" : "serial");
  }
}

// A container's first process takes a row as process 1, and so does nobody of this namespace.
TEST_F(Host, ARowOfAnotherNamespaceIsItsProcess) {
  add_process(1, "systemd", 1);
  add_process(4242, "python3", 300);
  write("proc/4242/status", "Name:\tpython3\nNSpid:\t4242\t1\n");
  add_region(0xA1, region(3, 0xA1, {{1, {100, 0, 0, 0, 0}, kLater, "python3"}}));
  const ledger::Snapshot now = snapshot();
  ASSERT_EQ(now.processes.size(), 1u);
  EXPECT_EQ(now.processes[0].pid, 4242);
  EXPECT_EQ(now.processes[0].name, "python3");
}

TEST(Cgroup, ContainerIds) {
  const std::string id(64, 'a');
  EXPECT_EQ(container_of_cgroup("0::/docker/" + id + "\n"), id);
  EXPECT_EQ(container_of_cgroup("0::/kubepods.slice/cri-containerd-" + id + ".scope\n"), id);
  EXPECT_EQ(container_of_cgroup("0::/user.slice/user-1000.slice\n"), "");
  EXPECT_EQ(container_of_cgroup("0::/docker/" + std::string(63, 'a') + "\n"), "");
}

TEST_F(Host, ProcessesOfAnotherNamespaceAreFound) {
  add_process(4242, "inner", 300);
  write("proc/4242/status", "Name:\tinner\nNSpid:\t4242\t7\n");
  fs::create_directories(root / "proc/4242/ns");
  fs::create_symlink("pid:[4026532001]", root / "proc/4242/ns/pid");
  const HostRoot host(root.string());
  HostProcesses processes(host);
  EXPECT_EQ(processes.pid_here(4026532001, 7, 300), 4242);
  EXPECT_FALSE(processes.pid_here(4026532002, 7, 300));
  EXPECT_FALSE(processes.pid_here(4026532001, 8, 300));
  EXPECT_FALSE(processes.pid_here(4026532001, 7, 301));
}

TEST(UpstreamName, OnlyTheExactNameCounts) {
  EXPECT_EQ(upstream_id("tt_device_161_memory"), 161u);
  EXPECT_EQ(upstream_id("tt_device_18446744073709551615_memory"), ~0ull);
  for (const char* name :
       {"tt_device_18446744073709551616_memory", "tt_device__memory", "tt_device_1_memory2",
        "xtt_device_1_memory", "tt_device_-1_memory", "tt_device_ 1_memory", "tt_device_memory"}) {
    EXPECT_FALSE(upstream_id(name)) << name;
  }
}

}  // namespace
}  // namespace ttmem::collect
