// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/device_book.hpp"

namespace ttmem::serve::history {

void DeviceBook::adopt(const KnownDevice& device) {
  devices_[device.number] = device;
  numbers_[{device.unique_id, device.arch, device.mock}] = device.number;
}

KnownDevice& DeviceBook::device_of(const ledger::DeviceView& view) {
  const auto arch = static_cast<std::uint8_t>(view.arch);
  const auto [place, is_new] = numbers_.try_emplace({view.unique_id, arch, view.mock}, 0);
  if (is_new) {
    place->second = devices_.empty() ? 1 : devices_.rbegin()->first + 1;
    devices_[place->second] = {place->second, view.unique_id, arch, view.mock, view.id, true, true};
  }
  return devices_[place->second];
}

void DeviceBook::update(const ledger::Snapshot& snapshot) {
  for (auto& [number, device] : devices_) device.present = false;
  by_document_id_.clear();
  for (const ledger::DeviceView& view : snapshot.devices) {
    KnownDevice& device = device_of(view);
    device.present = true;
    device.dirty = device.dirty || device.shown_id != view.id;
    device.shown_id = view.id;
    by_document_id_[view.id] = device.number;
  }
}

std::optional<std::uint64_t> DeviceBook::number_of(std::uint32_t document_id) const {
  const auto found = by_document_id_.find(document_id);
  if (found == by_document_id_.end()) return std::nullopt;
  return found->second;
}

void DeviceBook::written() {
  for (auto& [number, device] : devices_) device.dirty = false;
}

void DeviceBook::mark_all_dirty() {
  for (auto& [number, device] : devices_) device.dirty = true;
}

}  // namespace ttmem::serve::history
