// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The numbers that devices have in the file. A chip is told by unique id, architecture and whether
// it is a mock, as in the ledger; the id that people see may change from one run to the next.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "ledger/snapshot.hpp"

namespace ttmem::serve::history {

struct KnownDevice {
  std::uint64_t number = 0;
  std::uint64_t unique_id = 0;
  std::uint8_t arch = 0;
  bool mock = false;
  std::uint32_t shown_id = 0;
  bool present = false;  // in the latest snapshot
  bool dirty = false;
};

class DeviceBook {
 public:
  void adopt(const KnownDevice& device);
  // Learns the devices of a snapshot.
  void update(const ledger::Snapshot& snapshot);
  // The number of the device that has this id in the latest snapshot.
  std::optional<std::uint64_t> number_of(std::uint32_t document_id) const;
  const std::map<std::uint64_t, KnownDevice>& all() const { return devices_; }
  void written();
  void mark_all_dirty();

 private:
  using Chip = std::tuple<std::uint64_t, std::uint8_t, bool>;
  KnownDevice& device_of(const ledger::DeviceView& view);

  std::map<std::uint64_t, KnownDevice> devices_;  // by number
  std::map<Chip, std::uint64_t> numbers_;
  std::map<std::uint32_t, std::uint64_t> by_document_id_;
};

}  // namespace ttmem::serve::history
