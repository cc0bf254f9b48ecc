// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/live_buffers.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace ttmem::ledger {
namespace {

bool known_space(Space space) { return static_cast<std::size_t>(space) < kSpaces; }

// Host memory has no banks: only what was asked for is known of it.
bool is_bare(const BufferRecord& buffer) {
  return buffer.flags.requested_only || buffer.space == Space::kSystemMemory;
}

AddressRange range_of(std::uint64_t address, std::uint64_t block) {
  return {address, add(address, block)};
}

}  // namespace

std::optional<std::uint64_t> L1Floor::at(const Core& core) const {
  const auto found =
      std::lower_bound(by_core.begin(), by_core.end(), core,
                       [](const auto& entry, const Core& c) { return entry.first < c; });
  if (found == by_core.end() || found->first != core) return everywhere;
  return everywhere ? std::min(*everywhere, found->second) : found->second;
}

std::size_t LiveBuffers::KeyHash::operator()(const Key& key) const {
  std::uint64_t word = key.cores;
  word = word << 16 | key.set;
  word ^= std::uint64_t{key.allocator} << 44 ^
          std::uint64_t{static_cast<std::uint8_t>(key.space)} << 60 ^
          std::uint64_t{key.per_core} << 59;
  return word * 0x9E3779B97F4A7C15ull >> 20;
}

LiveBuffers::Key LiveBuffers::key_of(const BufferRecord& buffer) {
  return {buffer.allocator, buffer.set, buffer.cores, buffer.space, buffer.per_core};
}

std::uint32_t LiveBuffers::place_of(AllocatorIndex allocator, Space space) {
  return std::uint32_t{allocator} << 8 | static_cast<std::uint8_t>(space);
}

AddressMap& LiveBuffers::addresses(AllocatorIndex allocator, Space space) {
  return addresses_[place_of(allocator, space)];
}

const AddressMap* LiveBuffers::addresses(AllocatorIndex allocator, Space space) const {
  const auto found = addresses_.find(place_of(allocator, space));
  return found == addresses_.end() ? nullptr : &found->second;
}

LiveBuffers::Sums& LiveBuffers::sums_of(const Key& key) {
  Sums& sums = groups_[key];
  if (!sums.addresses && known_space(key.space))
    sums.addresses = &addresses(key.allocator, key.space);
  return sums;
}

void LiveBuffers::add(SlotIndex slot, const BufferRecord& buffer) {
  ++count_;
  if (buffer.flags.estimated) return;
  Sums& sums = sums_of(key_of(buffer));
  if (is_bare(buffer)) {
    ++sums.bare_count;
    sums.bare_requested += buffer.requested;
    return;
  }
  ++sums.count;
  sums.block += buffer.block;
  sums.requested += buffer.requested;
  if (buffer.flags.kernel_binaries) sums.binaries += buffer.block;
  if (counts(buffer) && !buffer.per_core)
    sums.addresses->add(range_of(buffer.address, buffer.block));
  if (counts(buffer) && buffer.per_core) per_core_[slot] = buffer;
}

void LiveBuffers::remove(SlotIndex slot, const BufferRecord& buffer) {
  TTMEM_DCHECK(count_ > 0);
  --count_;
  if (buffer.flags.estimated) return;
  const auto found = groups_.find(key_of(buffer));
  TTMEM_CHECK(found != groups_.end());  // the same record came once
  Sums& sums = found->second;
  TTMEM_DCHECK(is_bare(buffer) ? sums.bare_count > 0 : sums.count > 0);
  if (is_bare(buffer)) {
    --sums.bare_count;
    sums.bare_requested -= buffer.requested;
  } else {
    --sums.count;
    sums.block -= buffer.block;
    sums.requested -= buffer.requested;
    if (buffer.flags.kernel_binaries) sums.binaries -= buffer.block;
    if (counts(buffer) && !buffer.per_core)
      sums.addresses->remove(range_of(buffer.address, buffer.block));
    if (buffer.per_core) per_core_.erase(slot);
  }
  if (sums.count == 0 && sums.bare_count == 0) groups_.erase(found);
}

std::optional<SetIndex> LiveBuffers::resolved_set(const Key& key) const {
  SetIndex set = key.set;
  if (set == 0) {
    const AllocatorRecord* allocator = catalog_.allocator(key.allocator);
    if (allocator) set = allocator->set;
  }
  if (!catalog_.device_set(set) || !known_space(key.space)) return std::nullopt;
  return set;
}

std::optional<LiveBuffers::Multipliers> LiveBuffers::multipliers(const Key& key) const {
  const AllocatorRecord* allocator = catalog_.allocator(key.allocator);
  if (!allocator || !known_space(key.space)) return std::nullopt;
  const std::uint32_t banks = allocator->spaces[static_cast<std::size_t>(key.space)].banks;
  if (banks == 0) return std::nullopt;
  if (key.cores == 0) return Multipliers{banks, banks};
  const CoreSet* cores = catalog_.cores(key.cores);
  if (!cores) return std::nullopt;
  const std::uint32_t holding = std::min(cores->count, banks);
  return Multipliers{key.per_core ? holding : banks, holding};
}

void LiveBuffers::fill(DeviceIndex device, bool with_largest_free, DeviceFigures& figures) const {
  std::array<bool, kSpaces> bare{};  // with buffers whose block is not known
  figures.kernels.in_dram = 0;
  for (SpaceFigures& space : figures.spaces) space.requested = space.count = 0;
  catalog_.effort().spend(groups_.size() * Effort::kHeavy);
  for (const auto& [key, group] : groups_) {
    const auto set = resolved_set(key);
    if (!set || !catalog_.covers(*set, device)) continue;
    bare[static_cast<std::size_t>(key.space)] |= group.bare_count > 0;
    add_group(key, group, figures);
  }
  bool any_bare = false, any_blocks = false;
  for (const Space which : kDeviceSpaces) {
    SpaceFigures& space = figures.space(which);
    const bool is_bare = bare[static_cast<std::size_t>(which)];
    any_bare = any_bare || is_bare;
    any_blocks = any_blocks || space.taken;
    if (!is_bare && !space.taken) space.taken = space.occupied = 0;
  }
  figures.basis = !any_bare ? Basis::kBlocks : any_blocks ? Basis::kMixed : Basis::kRequested;
  fill_capacity(device, with_largest_free, figures);
}

void LiveBuffers::add_group(const Key& key, const Sums& group, DeviceFigures& figures) const {
  SpaceFigures& space = figures.space(key.space);
  add_to(space.count, group.bare_count);
  add_to(space.requested, narrow(group.bare_requested));
  const auto by = multipliers(key);
  if (group.count == 0 || !by) return;
  add_to(space.count, group.count);
  add_to(space.requested, narrow(group.requested));
  add_to(space.taken, times(group.block, by->taken));
  add_to(space.occupied, times(group.block, by->occupied));
  if (key.space == Space::kDram) add_to(figures.kernels.in_dram, times(group.binaries, by->taken));
}

// Allocators that cover the same chip share its memory: the widest tells the capacity, the fullest
// what still fits. Closed ones speak only where none is open: a device that was opened again may
// lack a space that it had before.
void LiveBuffers::fill_capacity(DeviceIndex device, bool with_largest_free,
                                DeviceFigures& figures) const {
  const auto& allocators = catalog_.allocators_of(device);
  const bool any_open = std::any_of(allocators.begin(), allocators.end(),
                                    [&](AllocatorIndex i) { return catalog_.allocator(i)->open; });
  for (const Space space : kDeviceSpaces) {
    const auto index = static_cast<std::size_t>(space);
    SpaceFigures& figure = figures.spaces[index];
    for (const AllocatorIndex i : allocators) {
      const AllocatorRecord& allocator = *catalog_.allocator(i);
      if (allocator.open != any_open) continue;
      const SpaceRecord& record = allocator.spaces[index];
      if (record.banks == 0) continue;
      const std::uint64_t capacity = times(record.bank_bytes, record.banks);
      figure.capacity = std::max(figure.capacity.value_or(0), capacity);
      if (!allocator.open || !with_largest_free) continue;
      const std::uint64_t free = largest_free(device, i, space);
      figure.largest_free = std::min(figure.largest_free.value_or(kMost), free);
    }
  }
}

std::uint64_t LiveBuffers::largest_free(DeviceIndex device, AllocatorIndex allocator,
                                        Space space) const {
  const SpaceRecord& record =
      catalog_.allocator(allocator)->spaces[static_cast<std::size_t>(space)];
  std::vector<AddressRange> others;
  for_each_per_core(device, [&](const BufferRecord& buffer, const Core&, AddressRange range) {
    if (buffer.allocator == allocator && buffer.space == space) others.push_back(range);
  });
  const AddressMap* map = addresses(allocator, space);
  static const AddressMap kEmpty;
  return (map ? *map : kEmpty).largest_free(record.base, record.bank_bytes, others);
}

bool LiveBuffers::counts(const BufferRecord& buffer) {
  return !buffer.flags.estimated && !is_bare(buffer) && buffer.block > 0 &&
         known_space(buffer.space);
}

std::vector<std::pair<Core, AddressRange>> LiveBuffers::places_of(
    const BufferRecord& buffer) const {
  std::vector<std::pair<Core, AddressRange>> places;
  const CoreSet* cores = catalog_.cores(buffer.cores);
  const auto* listed = catalog_.addresses(buffer.core_addresses);
  if (!cores || (buffer.core_addresses != 0 && !listed)) return places;
  catalog_.effort().spend((cores->count + std::uint64_t{1}) * Effort::kHeavy);
  const std::vector<Core> order = cores_in_order(*cores);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (listed && i >= listed->size()) break;
    places.emplace_back(order[i], range_of(listed ? (*listed)[i] : buffer.address, buffer.block));
  }
  return places;
}

template <typename Visit>
void LiveBuffers::for_each_per_core(DeviceIndex device, Visit visit) const {
  catalog_.effort().spend(per_core_.size());
  for (const auto& [slot, buffer] : per_core_) {
    for_each_range(device, buffer, [&](const std::optional<Core>& core, AddressRange range) {
      visit(buffer, *core, range);
    });
  }
}

std::vector<std::uint64_t> LiveBuffers::occupied_by_core(DeviceIndex device, Space space,
                                                         const CoreGrid& grid) const {
  std::vector<std::uint64_t> bytes(grid.size());
  for (const auto& [key, group] : groups_) {
    const auto set = resolved_set(key);
    if (key.space != space || !set || !catalog_.covers(*set, device)) continue;
    const std::uint64_t block = narrow(group.block);
    catalog_.effort().spend(grid.size() / 8 + 1);
    const CoreMask* mask = key.cores == 0 ? nullptr : &grid.mask(key.cores);
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if (!mask || has_bit(*mask, i)) bytes[i] = ledger::add(bytes[i], block);
    }
  }
  return bytes;
}

L1Floor LiveBuffers::l1_floor(DeviceIndex device) const {
  L1Floor floor;
  const auto lower = [&floor](std::uint64_t address) {
    floor.everywhere = std::min(floor.everywhere.value_or(kMost), address);
  };
  for (const AllocatorIndex i : catalog_.allocators_of(device)) {
    const AddressMap* map = addresses(i, Space::kL1);
    if (const auto lowest = map ? map->lowest() : std::nullopt) lower(*lowest);
  }
  for_each_per_core(device, [&](const BufferRecord& buffer, const Core& core, AddressRange range) {
    if (buffer.space != Space::kL1) return;
    const AllocatorRecord* allocator = catalog_.allocator(buffer.allocator);
    if (allocator && allocator->per_core) {
      floor.by_core.emplace_back(core, range.begin);
    } else {
      lower(range.begin);
    }
  });
  std::sort(floor.by_core.begin(), floor.by_core.end());
  const auto same_core = [](const auto& a, const auto& b) { return a.first == b.first; };
  floor.by_core.erase(std::unique(floor.by_core.begin(), floor.by_core.end(), same_core),
                      floor.by_core.end());
  return floor;
}

std::vector<AddressRange> LiveBuffers::lock_step_ranges(DeviceIndex device, Space space) const {
  std::vector<AddressRange> all;
  for (const AllocatorIndex i : catalog_.allocators_of(device)) {
    const AddressMap* map = addresses(i, space);
    if (map) catalog_.effort().spend(map->ranges().size());
    if (map) all.insert(all.end(), map->ranges().begin(), map->ranges().end());
  }
  return merged(std::move(all));
}

std::vector<std::pair<Core, AddressRange>> LiveBuffers::per_core_ranges(DeviceIndex device,
                                                                        Space space) const {
  std::vector<std::pair<Core, AddressRange>> all;
  for_each_per_core(device, [&](const BufferRecord& buffer, const Core& core, AddressRange range) {
    if (buffer.space == space) all.emplace_back(core, range);
  });
  std::sort(all.begin(), all.end());
  return all;
}

BufferBytes LiveBuffers::bytes_of(const BufferRecord& buffer) const {
  if (is_bare(buffer)) return {};
  const auto by = multipliers(key_of(buffer));
  if (!by) return {buffer.block, {}, {}};
  return {buffer.block, times(buffer.block, by->occupied), times(buffer.block, by->taken)};
}

SetIndex LiveBuffers::set_of(const BufferRecord& buffer) const {
  return resolved_set(key_of(buffer)).value_or(0);
}

bool LiveBuffers::is_in_totals(const BufferRecord& buffer) const {
  if (buffer.flags.estimated || !resolved_set(key_of(buffer))) return false;
  return is_bare(buffer) || multipliers(key_of(buffer));
}

std::uint64_t LiveBuffers::unresolved(const Key& key, const Sums& sums) const {
  if (!resolved_set(key)) return sums.count + sums.bare_count;
  return multipliers(key) ? 0 : sums.count;
}

std::uint64_t LiveBuffers::dangling() const {
  std::uint64_t count = 0;
  for (const auto& [key, sums] : groups_) count += unresolved(key, sums);
  return count;
}

}  // namespace ttmem::ledger
