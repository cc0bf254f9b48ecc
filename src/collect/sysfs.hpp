// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The devices that the kernel driver knows, from /sys/class/tenstorrent and the sensors beside it.
// No device node is opened: that would count as use. A file that is missing is a value that is not
// known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/host_root.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::collect {

struct SysfsDevice {
  std::uint32_t node = 0;  // N of /dev/tenstorrent/N
  std::optional<std::uint64_t> asic_id, serial;
  std::string board;  // "n300"; "" = not known
  ledger::Arch arch = ledger::Arch::kUnknown;
  ledger::HostDevice host;  // bus and sensors

  // The id of the chip as far as the driver tells it.
  std::optional<std::uint64_t> unique_id() const { return asic_id ? asic_id : serial; }
};

std::vector<SysfsDevice> read_sysfs(const HostRoot& root);

// How a chip's unique id fits a device of the driver; "" if it does not.
std::string joined_by(std::uint64_t unique_id, const SysfsDevice& device);

}  // namespace ttmem::collect
