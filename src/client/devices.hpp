// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The devices of a process and the sets they form. A device keeps its id when it is opened again;
// equal sets are one set. Everything else refers to them by id.
#pragma once

#include <cstdint>

#include "client/segment_writer.hpp"

namespace ttmem::client {

class Devices {
 public:
  bool open(SegmentWriter& writer);
  void give_back() { lists_.give_back(); }

  ttmem_device_t opened(const ttmem_device_info& info);
  void closed(ttmem_device_t device);  // under the gate: programs and traces end first
  ttmem_set_t set(const ttmem_set_info& info);

  // Need no lock. Null for a set that was never handed out.
  const DeviceList* list(ttmem_set_t id) const;
  bool knows(ttmem_device_t id) const;

 private:
  segment::Device& record(std::uint16_t id) const;
  std::uint16_t find(const ttmem_device_info& info) const;
  void describe(segment::Device& device, const ttmem_device_info& info);
  ttmem_set_t find_set(const segment::DeviceSet& wanted) const;
  bool write_set(ttmem_set_t id, const segment::DeviceSet& wanted);

  SegmentWriter* writer_ = nullptr;
  PrivateArray<DeviceList> lists_;
};

}  // namespace ttmem::client
