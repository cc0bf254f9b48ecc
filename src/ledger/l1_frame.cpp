// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/l1_frame.hpp"

#include <algorithm>

namespace ttmem::ledger {
namespace {

// What the open allocators of a device say about its worker cores.
struct Region {
  bool exists = false;
  bool all_workers = false;  // some allocator does not name the cores of its banks
  std::vector<Core> banks;
  std::uint64_t end = 0;
  std::optional<AddressRange> l1_small;
};

Region region_of(const Catalog& catalog, DeviceIndex device) {
  Region region;
  for (const AllocatorIndex i : catalog.allocators_of(device)) {
    const AllocatorRecord& allocator = *catalog.allocator(i);
    const SpaceRecord& l1 = allocator.spaces[static_cast<std::size_t>(Space::kL1)];
    if (!allocator.open || l1.banks == 0) continue;
    region.exists = true;
    region.all_workers = region.all_workers || l1.bank_cores.empty();
    region.banks.insert(region.banks.end(), l1.bank_cores.begin(), l1.bank_cores.end());
    region.end = std::max(region.end, add(l1.base, l1.bank_bytes));
    const SpaceRecord& small = allocator.spaces[static_cast<std::size_t>(Space::kL1Small)];
    if (small.banks != 0) region.l1_small = {small.base, add(small.base, small.bank_bytes)};
  }
  std::sort(region.banks.begin(), region.banks.end());
  return region;
}

// Dispatch cores are Tensix cores unless the device says otherwise.
const CoreGeometry& frame_geometry(const DeviceRecord& device, const CoreRecord& core) {
  const CoreGeometry& own = geometry_of(device, core.core.type);
  if (own.l1_bytes != 0 || core.role != Role::kDispatch) return own;
  return geometry_of(device, CoreType::kTensix);
}

}  // namespace

std::uint64_t L1Frame::ceiling() const {
  const std::uint64_t size = geometry.l1_bytes == 0 ? kMost : geometry.l1_bytes;
  return floor ? std::min(*floor, size) : size;
}

std::optional<std::int64_t> L1Frame::headroom(std::uint64_t program_end) const {
  if (core.role != Role::kWorker || !top) return std::nullopt;
  const std::uint64_t end = program_end == 0 ? geometry.unreserved_base : program_end;
  return difference(floor.value_or(*top), end);
}

std::vector<L1Frame> L1Frames::without_floors(DeviceIndex device) const {
  std::vector<L1Frame> frames;
  const CoreGrid* grid = grids_.of(device);
  if (!grid) return frames;
  const DeviceRecord& record = *catalog_.device(device);
  const Region region = region_of(catalog_, device);
  frames.reserve(grid->size());
  for (const CoreRecord& core : grid->cores()) {
    L1Frame frame;
    frame.core = core;
    frame.geometry = frame_geometry(record, core);
    frame.bank = core.role == Role::kWorker && region.exists &&
                 (region.all_workers ||
                  std::binary_search(region.banks.begin(), region.banks.end(), core.core));
    if (frame.bank) {
      frame.top = region.end;
      frame.l1_small = region.l1_small;
    } else if (frame.geometry.l1_bytes != 0) {
      frame.top = frame.geometry.l1_bytes;
    }
    frames.push_back(frame);
  }
  return frames;
}

const std::vector<L1Frame>& L1Frames::of(DeviceIndex device) const {
  if (as_of_ != catalog_.version()) frames_.clear();
  as_of_ = catalog_.version();
  const auto [place, is_new] = frames_.try_emplace(device);
  std::vector<L1Frame>& frames = place->second;
  if (is_new) frames = without_floors(device);
  const L1Floor floor = buffers_.l1_floor(device);
  for (L1Frame& frame : frames) {
    if (frame.bank)
      frame.floor = floor.by_core.empty() ? floor.everywhere : floor.at(frame.core.core);
  }
  return frames;
}

std::uint64_t bytes_below(std::span<const AddressRange> merged_ranges, std::uint64_t ceiling) {
  std::uint64_t sum = 0;
  for (const AddressRange& range : merged_ranges) {
    const std::uint64_t end = std::min(range.end, ceiling);
    if (end > range.begin) sum = add(sum, end - range.begin);
  }
  return sum;
}

}  // namespace ttmem::ledger
