// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/sysfs.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace ttmem::collect {
namespace {

constexpr std::size_t kMostDevices = 1024;
constexpr std::string_view kClass = "/sys/class/tenstorrent";
constexpr std::string_view kNodePrefix = "tenstorrent!";

std::optional<std::uint64_t> identity(const HostRoot& root, const std::string& path) {
  const auto text = root.line(path);
  return text ? hexadecimal(*text) : std::nullopt;
}

ledger::Arch arch_of(const HostRoot& root, const std::string& directory) {
  const auto id = identity(root, directory + "/device/device");
  if (id == 0x401e) return ledger::Arch::kWormholeB0;
  if (id == 0xb140) return ledger::Arch::kBlackhole;
  return ledger::Arch::kUnknown;
}

// Values that a device gives during a reset (65535 and the like) are no values.
std::optional<std::int64_t> within(std::optional<std::int64_t> value, std::int64_t least,
                                   std::int64_t most) {
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

void read_sensors(const HostRoot& root, const std::string& sensors, ledger::HostDevice& host) {
  host.temperature_millidegrees = within(root.number(sensors + "/temp1_input"), -50'000, 150'000);
  host.voltage_millivolts = within(root.number(sensors + "/in0_input"), 1, 5'000);
  host.current_milliamperes = within(root.number(sensors + "/curr1_input"), 1, 1'000'000);
  host.power_microwatts = within(root.number(sensors + "/power1_input"), 1, 2'000'000'000);
  host.fan_rpm = within(root.number(sensors + "/fan1_input"), 0, 20'000);
}

void read_clocks(const HostRoot& root, const std::string& directory, ledger::HostDevice& host) {
  host.aiclk_mhz = within(root.number(directory + "/tt_aiclk"), 1, 5'000);
  host.axiclk_mhz = within(root.number(directory + "/tt_axiclk"), 1, 5'000);
  host.arcclk_mhz = within(root.number(directory + "/tt_arcclk"), 1, 5'000);
  host.heartbeat = within(root.number(directory + "/tt_heartbeat"), 0, INT64_MAX);
}

SysfsDevice read_device(const HostRoot& root, const std::string& directory, std::uint32_t node) {
  SysfsDevice device;
  device.node = node;
  device.asic_id = identity(root, directory + "/tt_asic_id");
  device.serial = identity(root, directory + "/tt_serial");
  device.board = root.line(directory + "/tt_card_type").value_or("");
  device.arch = arch_of(root, directory);
  device.host.node = node;
  device.host.bus = root.link_name(directory + "/device").value_or("");
  read_clocks(root, directory, device.host);
  const std::string below = directory + "/device/hwmon";
  for (const std::string& name : root.list(below, 16)) {
    if (name.starts_with("hwmon")) read_sensors(root, below + "/" + name, device.host);
  }
  return device;
}

}  // namespace

std::vector<SysfsDevice> read_sysfs(const HostRoot& root) {
  std::vector<SysfsDevice> devices;
  for (const std::string& name : root.list(std::string(kClass), kMostDevices)) {
    if (!name.starts_with(kNodePrefix)) continue;
    const auto node = decimal(std::string_view(name).substr(kNodePrefix.size()));
    if (!node || *node > 65535) continue;
    devices.push_back(
        read_device(root, fmt::format("{}/{}", kClass, name), static_cast<std::uint32_t>(*node)));
  }
  std::ranges::sort(devices, {}, &SysfsDevice::node);
  return devices;
}

std::string joined_by(std::uint64_t unique_id, const SysfsDevice& device) {
  if (device.asic_id == unique_id) return "asic_id";
  if (device.serial == unique_id) return "serial";
  const bool located = device.arch == ledger::Arch::kBlackhole && device.serial;
  if (located && unique_id >> 5 == *device.serial) return "serial_and_location";
  return "";
}

}  // namespace ttmem::collect
