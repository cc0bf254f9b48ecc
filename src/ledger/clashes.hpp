// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where program L1 and buffers run into each other on a device, who they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "ledger/books.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

class Clashes {
 public:
  Clashes(const Books& books, DeviceIndex device) : books_(books), device_(device) {}

  // Both sides on a core whose headroom is negative. The first question walks all slots, which
  // finds the lowest buffers of every core.
  Clash at(const L1Frame& frame, const Standing& standing);

 private:
  using Place = std::pair<std::uint64_t, std::optional<Core>>;  // no core: on every one

  void find_lowest_buffers();
  const BufferRecord* lowest_buffer(const L1Frame& frame) const;

  const Books& books_;
  DeviceIndex device_;
  std::optional<std::map<Place, const BufferRecord*>> lowest_;
};

}  // namespace ttmem::ledger
