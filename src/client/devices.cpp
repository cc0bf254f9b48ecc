// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/devices.hpp"

#include <cstring>

#include "client/atomic_words.hpp"

namespace ttmem::client {

using segment::BlobKind;
using segment::Device;
using segment::DeviceSet;
using segment::SectionKind;

bool Devices::open(SegmentWriter& writer) {
  writer_ = &writer;
  return lists_.reserve(segment::kMaxDeviceSets);
}

Device& Devices::record(std::uint16_t id) const {
  return writer_->store.at<Device>(segment::kDevicesOffset)[id];
}

bool Devices::knows(ttmem_device_t id) const {
  return id != 0 && id <= get_word(writer_->store.header().device_count);
}

const DeviceList* Devices::list(ttmem_set_t id) const {
  if (id == 0 || id > get_word(writer_->store.header().device_set_count)) return nullptr;
  return &lists_[id];
}

// A chip that is opened again keeps its number, so that its peaks and counters go on.
std::uint16_t Devices::find(const ttmem_device_info& info) const {
  for (std::uint32_t id = 1; id <= writer_->store.header().device_count; ++id) {
    const Device& device = record(static_cast<std::uint16_t>(id));
    if (device.unique_id == info.unique_id && device.arch == info.arch &&
        device.mock == (info.mock != 0)) {
      return static_cast<std::uint16_t>(id);
    }
  }
  return 0;
}

ttmem_device_t Devices::opened(const ttmem_device_info& info) {
  const ColdCall call(writer_->store);
  // Opening a device is rare and comes before everything else: a good moment to look after the
  // file.
  writer_->store.maintain();
  auto& header = writer_->store.header();
  std::uint16_t id = find(info);
  const bool known = id != 0;
  if (!known) {
    id = static_cast<std::uint16_t>(header.device_count + 1);
    if (id >= segment::kMaxDevices ||
        !writer_->store.prepare(SectionKind::kDevices, (id + 1u) * sizeof(Device))) {
      writer_->refuse(TTMEM_ANOMALY_LIMIT, info.unique_id);
      return 0;
    }
  }
  const std::uint32_t board =
      info.board == nullptr
          ? 0
          : writer_->interner.intern(BlobKind::kString, info.board, std::strlen(info.board));
  const std::uint32_t cores = info.core_count == 0
                                  ? 0
                                  : writer_->interner.intern(BlobKind::kCoreList, info.cores,
                                                             info.core_count * sizeof(ttmem_core));
  const LockGuard guard(writer_->store.lock);
  writer_->store.rewrite(record(id), [&](Device& device) {
    device.board = board;
    device.cores = cores;
    describe(device, info);
  });
  // The count last: a reader that sees it finds a whole record.
  if (!known) publish(writer_->store.header().device_count, std::uint32_t{id});
  writer_->store.note(segment::Note::kDeviceOpened, {.a = id});
  return id;
}

void Devices::describe(Device& device, const ttmem_device_info& info) {
  device.unique_id = info.unique_id;
  device.metal_id = info.metal_id;
  device.arch = info.arch;
  device.mock = info.mock != 0;
  device.open = 1;
  device.grid_x = static_cast<std::uint16_t>(info.grid_x);
  device.grid_y = static_cast<std::uint16_t>(info.grid_y);
  device.dram_banks = static_cast<std::uint16_t>(info.dram_banks);
  device.dram_bank_bytes = info.dram_bank_bytes;
  device.open_count += 1;
  device.opened_ticks = writer_->store.clock().now();
  static_assert(sizeof device.geometry == sizeof info.geometry);
  std::memcpy(device.geometry, info.geometry, sizeof device.geometry);
}

void Devices::closed(ttmem_device_t id) {
  const LockGuard guard(writer_->store.lock);
  writer_->store.rewrite(record(id), [&](Device& device) {
    device.open = 0;
    device.closed_ticks = writer_->store.clock().now();
  });
  writer_->store.note(segment::Note::kDeviceClosed, {.a = id});
}

// ---- sets ----------------------------------------------------------------------------------

ttmem_set_t Devices::set(const ttmem_set_info& info) {
  const ColdCall call(writer_->store);
  bool known = info.device_count > 0 && info.device_count < segment::kMaxDevices &&
               (info.parent == 0 || list(info.parent) != nullptr);
  for (std::uint32_t i = 0; known && i < info.device_count; ++i) known = knows(info.devices[i]);
  if (!known) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, info.device_count);
    return 0;
  }
  DeviceSet wanted = {};
  wanted.devices = writer_->interner.intern(BlobKind::kDeviceList, info.devices,
                                            info.device_count * sizeof(ttmem_device_t));
  wanted.device_count = static_cast<std::uint16_t>(info.device_count);
  wanted.parent = info.parent;
  wanted.rows = info.rows;
  wanted.columns = info.columns;
  if (const ttmem_set_t id = find_set(wanted)) return id;
  const std::uint32_t id = writer_->store.header().device_set_count + 1;
  if (wanted.devices == 0 || id >= segment::kMaxDeviceSets ||
      !write_set(static_cast<ttmem_set_t>(id), wanted)) {
    writer_->refuse(TTMEM_ANOMALY_LIMIT, id);
    return 0;
  }
  return static_cast<ttmem_set_t>(id);
}

ttmem_set_t Devices::find_set(const DeviceSet& wanted) const {
  const auto* sets = writer_->store.at<DeviceSet>(segment::kDeviceSetsOffset);
  for (std::uint32_t id = 1; id <= writer_->store.header().device_set_count; ++id) {
    const DeviceSet& set = sets[id];
    if (set.devices == wanted.devices && set.parent == wanted.parent && set.rows == wanted.rows &&
        set.columns == wanted.columns) {
      return static_cast<ttmem_set_t>(id);
    }
  }
  return 0;
}

bool Devices::write_set(ttmem_set_t id, const DeviceSet& wanted) {
  if (!writer_->store.prepare(SectionKind::kDeviceSets, (id + 1u) * sizeof(DeviceSet)) ||
      !lists_.prepare(id + 1u)) {
    return false;
  }
  const segment::Blob* blob = writer_->interner.find(wanted.devices, BlobKind::kDeviceList);
  const auto* devices = reinterpret_cast<const std::uint16_t*>(blob + 1);
  DeviceList list = {devices, wanted.device_count, devices[0], true};
  for (std::uint16_t i = 0; i < list.count; ++i) {
    // Nearly every mesh is. Then a call walks neighbouring words instead of following the list.
    list.contiguous = list.contiguous && devices[i] == list.first + i;
  }
  lists_[id] = list;
  const LockGuard guard(writer_->store.lock);
  writer_->store.rewrite(writer_->store.at<DeviceSet>(segment::kDeviceSetsOffset)[id],
                         [&](DeviceSet& set) {
                           const std::uint64_t version = set.version;
                           set = wanted;
                           set.version = version;
                         });
  publish(writer_->store.header().device_set_count, std::uint32_t{id});
  return true;
}

}  // namespace ttmem::client
