// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Everything that holdings refer to by number: devices, device sets, allocators and interned data.
// Holdings are counted by these numbers and meet their meaning only when a figure is asked for, so
// it does not matter which of the two came first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/effort.hpp"
#include "ledger/origins.hpp"
#include "ledger/records.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

class Catalog {
 public:
  void set_device(DeviceIndex index, DeviceRecord record);
  void set_open(DeviceIndex index, bool open);
  void set_device_set(SetIndex index, DeviceSetRecord record);
  void set_allocator(AllocatorIndex index, AllocatorRecord record);
  void set_string(StringId id, std::string text);
  void set_cores(CoresId id, CoreSet cores);
  void set_addresses(ListId id, std::vector<std::uint64_t> addresses);
  void set_members(ListId id, std::vector<TraceMember> members);
  void set_frame(OriginFrameId id, OriginFrame frame);
  void set_origin(OriginId id, const OriginNode& node);

  // Null or "" if not there.
  const DeviceRecord* device(DeviceIndex index) const;
  const DeviceSetRecord* device_set(SetIndex index) const;
  const AllocatorRecord* allocator(AllocatorIndex index) const;
  const CoreSet* cores(CoresId id) const;
  // By how many cores a kernel or range is multiplied: cores that were never named count as one, a
  // set that is not there counts nothing.
  std::uint32_t core_count(CoresId id) const;
  const std::vector<std::uint64_t>* addresses(ListId id) const;
  const std::vector<TraceMember>* members(ListId id) const;
  std::string_view string(StringId id) const;
  const Origins& origins() const { return origins_; }
  // The operation of a buffer: of ttnn, or of the launch that followed, or the region it was made
  // in.
  std::string_view operation_of(OriginId origin, StringId derived) const;
  // Whether that is the one of the launch that followed.
  bool is_derived(OriginId origin, StringId followed) const;
  // The operations of the device beside it: of the launch that followed, or those that its origin
  // launches, "A, B".
  std::string device_operation_of(OriginId origin, StringId followed) const;
  // What a program calls itself, or else what it was made for.
  std::string_view name_of(StringId own, OriginId origin) const;
  // Of an origin: its line as "FILE:LINE FUNCTION", its operation of ttnn, its innermost region,
  // and what it says itself; "" if it has none.
  std::string_view line_of(OriginId origin) const;
  std::string_view operation_of(OriginId origin) const;
  std::string_view region_of(OriginId origin) const;
  // All regions around it: "model > layer 3".
  std::string regions_of(OriginId origin) const;
  Stack stack_of(OriginId origin) const;  // null if there is none
  std::string_view step_of(OriginId origin) const;

  const std::vector<DeviceIndex>& devices() const { return devices_in_order_; }
  // The sets that contain a device, ascending; and the allocators of these sets.
  const std::vector<SetIndex>& sets_of(DeviceIndex device) const;
  const std::vector<AllocatorIndex>& allocators_of(DeviceIndex device) const;
  bool covers(SetIndex set, DeviceIndex device) const;
  std::vector<DeviceIndex> devices_in(SetIndex set) const;  // in mesh order, each once
  bool is_open(DeviceIndex device) const;

  // What may still be spent on questions about this process.
  const Effort& effort() const { return effort_; }

  // Changes whenever an answer above may have changed; strings do not count.
  std::uint64_t version() const { return version_; }
  // Changes when a device does, and when a known set of cores becomes another one.
  std::uint64_t devices_version() const { return devices_version_; }
  std::uint64_t cores_version() const { return cores_version_; }

 private:
  struct Membership {
    std::vector<SetIndex> sets;
    std::vector<AllocatorIndex> allocators;
  };
  const Membership& membership(DeviceIndex device) const;

  Effort effort_;
  std::vector<std::optional<DeviceRecord>> devices_;
  std::vector<std::optional<DeviceSetRecord>> sets_;
  std::vector<std::optional<AllocatorRecord>> allocators_;
  std::vector<DeviceIndex> devices_in_order_;
  std::unordered_map<StringId, std::string> strings_;
  Origins origins_;
  mutable std::unordered_map<OriginId, Stack> stacks_;  // that somebody asked for
  std::unordered_map<CoresId, CoreSet> cores_;
  std::unordered_map<ListId, std::vector<std::uint64_t>> addresses_;
  std::unordered_map<ListId, std::vector<TraceMember>> members_;
  std::uint64_t version_ = 1, devices_version_ = 1, cores_version_ = 1;
  mutable std::vector<Membership> memberships_;
  mutable bool memberships_valid_ = false;
};

// The cores of a set, row by row: the order in which per-core addresses are listed.
std::vector<Core> cores_in_order(const CoreSet& set);
bool contains(const CoreSet& set, const Core& core);
// "0,0-7,7 3,8", or bank numbers "0 1 5".
std::string to_string(const CoreSet& set);
// Every core that is known of a device: its list, or its grid of workers if it brought none.
std::vector<CoreRecord> cores_of(const DeviceRecord& device);
const CoreGeometry& geometry_of(const DeviceRecord& device, CoreType type);

}  // namespace ttmem::ledger
