// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/catalog.hpp"

#include <algorithm>
#include <bitset>
#include <utility>

#include <fmt/format.h>

namespace ttmem::ledger {
namespace {

template <typename T>
const T* find(const std::vector<std::optional<T>>& list, std::size_t index) {
  return index < list.size() && list[index] ? &*list[index] : nullptr;
}

template <typename Id, typename T>
const T* find(const std::unordered_map<Id, T>& map, Id id) {
  const auto found = map.find(id);
  return found == map.end() ? nullptr : &found->second;
}

// True if that changed anything. Index 0 means "none" everywhere.
template <typename T>
bool assign(std::vector<std::optional<T>>& list, std::size_t index, T value) {
  if (index == 0) return false;
  if (index >= list.size()) list.resize(index + 1);
  if (list[index] == value) return false;
  list[index] = std::move(value);
  return true;
}

template <typename Id, typename T>
bool assign(std::unordered_map<Id, T>& map, Id id, T value) {
  if (id == 0) return false;
  const auto [place, is_new] = map.try_emplace(id);
  if (!is_new && place->second == value) return false;
  place->second = std::move(value);
  return true;
}

bool well_formed(const CoreRange& range) { return range.x0 <= range.x1 && range.y0 <= range.y1; }

template <typename Visit>
void for_each_place(const CoreSet& set, Visit visit) {
  for (const CoreRange& range : set.ranges) {
    for (unsigned y = range.y0; y <= range.y1; ++y) {
      for (unsigned x = range.x0; x <= range.x1; ++x) visit(x, y);
    }
  }
}

std::bitset<65536> places(const CoreSet& set) {
  std::bitset<65536> seen;
  for_each_place(set, [&](unsigned x, unsigned y) { seen.set(y * 256 + x); });
  return seen;
}

// Counts what is there; the source's own count is not trusted.
std::uint32_t count_of(const CoreSet& set) {
  if (!set.banks.empty()) return static_cast<std::uint32_t>(set.banks.size());
  if (set.ranges.empty()) return 0;
  if (set.ranges.size() > 1) return static_cast<std::uint32_t>(places(set).count());
  const CoreRange& range = set.ranges.front();
  return (range.x1 - range.x0 + 1u) * (range.y1 - range.y0 + 1u);
}

void keep_first_of_each(std::vector<DeviceIndex>& devices) {
  std::vector<bool> seen(std::size_t{1} << 16);
  std::erase_if(devices, [&](DeviceIndex device) {
    const bool again = seen[device];
    seen[device] = true;
    return again;
  });
}

}  // namespace

void Catalog::set_device(DeviceIndex index, DeviceRecord record) {
  const bool is_new = device(index) == nullptr;
  if (!assign(devices_, index, std::move(record))) return;
  ++version_;
  ++devices_version_;
  if (!is_new) return;
  devices_in_order_.insert(
      std::lower_bound(devices_in_order_.begin(), devices_in_order_.end(), index), index);
}

void Catalog::set_open(DeviceIndex index, bool open) {
  if (!device(index) || device(index)->open == open) return;
  devices_[index]->open = open;
  ++version_;
  ++devices_version_;
}

void Catalog::set_device_set(SetIndex index, DeviceSetRecord record) {
  keep_first_of_each(record.devices);
  if (!assign(sets_, index, std::move(record))) return;
  ++version_;
  memberships_valid_ = false;
}

void Catalog::set_allocator(AllocatorIndex index, AllocatorRecord record) {
  if (!assign(allocators_, index, std::move(record))) return;
  ++version_;
  memberships_valid_ = false;
}

void Catalog::set_string(StringId id, std::string text) {
  assign(strings_, id, cut_text(std::move(text)));
}

void Catalog::set_cores(CoresId id, CoreSet cores) {
  const bool only_counted = cores.ranges.empty() && cores.banks.empty();
  std::erase_if(cores.ranges, [](const CoreRange& range) { return !well_formed(range); });
  std::sort(cores.banks.begin(), cores.banks.end());
  cores.banks.erase(std::unique(cores.banks.begin(), cores.banks.end()), cores.banks.end());
  if (!only_counted) cores.count = count_of(cores);
  const bool is_new = !cores_.contains(id);
  if (!assign(cores_, id, std::move(cores))) return;
  ++version_;
  if (!is_new) ++cores_version_;
}

void Catalog::set_addresses(ListId id, std::vector<std::uint64_t> addresses) {
  if (assign(addresses_, id, std::move(addresses))) ++version_;
}

void Catalog::set_members(ListId id, std::vector<TraceMember> members) {
  if (assign(members_, id, std::move(members))) ++version_;
}

const DeviceRecord* Catalog::device(DeviceIndex index) const { return find(devices_, index); }
const DeviceSetRecord* Catalog::device_set(SetIndex index) const { return find(sets_, index); }
const AllocatorRecord* Catalog::allocator(AllocatorIndex index) const {
  return find(allocators_, index);
}
const CoreSet* Catalog::cores(CoresId id) const { return find(cores_, id); }
std::uint32_t Catalog::core_count(CoresId id) const {
  const CoreSet* set = cores(id);
  return id == 0 ? 1 : set ? set->count : 0;
}
const std::vector<std::uint64_t>* Catalog::addresses(ListId id) const {
  return find(addresses_, id);
}
const std::vector<TraceMember>* Catalog::members(ListId id) const { return find(members_, id); }

std::string_view Catalog::string(StringId id) const {
  const std::string* text = find(strings_, id);
  return text ? std::string_view(*text) : std::string_view();
}

void Catalog::set_frame(OriginFrameId id, OriginFrame frame) {
  origins_.set_frame(id, std::move(frame));
}

void Catalog::set_origin(OriginId id, const OriginNode& node) { origins_.set_node(id, node); }

std::string_view Catalog::step_of(OriginId origin) const {
  const Origins::Node* node = origins_.node(origin);
  if (!node) return {};
  if (node->step.kind == OriginKind::kCut) return "…";
  if (node->step.kind != OriginKind::kFrame) return string(node->step.name);
  const OriginFrame* frame = origins_.frame(node->step.frame);
  return frame ? std::string_view(frame->text) : std::string_view("?");
}

std::string_view Catalog::line_of(OriginId origin) const {
  const Origins::Node* node = origins_.node(origin);
  const Origins::Node* said = node ? origins_.node(node->line) : nullptr;
  if (!said) return {};
  return said->step.kind == OriginKind::kRegion ? string(said->step.line) : step_of(node->line);
}

std::string_view Catalog::operation_of(OriginId origin) const {
  const Origins::Node* node = origins_.node(origin);
  return node ? step_of(node->operation) : std::string_view();
}

std::string_view Catalog::operation_of(OriginId origin, StringId derived) const {
  const std::string_view named = operation_of(origin);
  if (!named.empty()) return named;
  const std::string_view followed = string(derived);
  return followed.empty() ? region_of(origin) : followed;
}

bool Catalog::is_derived(OriginId origin, StringId followed) const {
  return !string(followed).empty() && operation_of(origin).empty();
}

std::string Catalog::device_operation_of(OriginId origin, StringId followed) const {
  std::string text(string(followed));
  if (!text.empty()) return text;
  for (const StringId name : origins_.launches(origin)) {
    text += (text.empty() ? "" : ", ") + std::string(string(name));
  }
  return text;
}

std::string_view Catalog::name_of(StringId own, OriginId origin) const {
  const std::string_view name = string(own);
  return name.empty() ? operation_of(origin, 0) : name;
}

std::string_view Catalog::region_of(OriginId origin) const {
  const Origins::Node* node = origins_.node(origin);
  return node ? step_of(node->region) : std::string_view();
}

std::string Catalog::regions_of(OriginId origin) const {
  std::string text;
  const Origins::Node* node = origins_.node(origin);
  for (OriginId id = node ? node->region : 0; id != 0; id = node ? node->region : 0) {
    if (text.size() > kMostTextBytes) return "… > " + text;
    text = std::string(step_of(id)) + (text.empty() ? "" : " > ") + text;
    node = origins_.node(origins_.node(id)->step.parent);
  }
  return text;
}

Stack Catalog::stack_of(OriginId origin) const {
  if (!origins_.node(origin)) return nullptr;
  const auto [found, is_new] = stacks_.try_emplace(origin);
  if (!is_new) return found->second;
  std::vector<std::string> steps;
  bool leads_somewhere = false;  // an operation alone, as strangers are told it, is no stack
  for (const OriginId id : origins_.path(origin)) {
    const OriginNode& step = origins_.node(id)->step;
    const bool has_no_name = step.kind == OriginKind::kRegion && step.name == 0;
    if (!has_no_name) steps.emplace_back(step_of(id));
    leads_somewhere =
        leads_somewhere || step.kind == OriginKind::kFrame || step.kind == OriginKind::kRegion;
  }
  if (leads_somewhere) {
    found->second = std::make_shared<const std::vector<std::string>>(std::move(steps));
  }
  return found->second;
}

const Catalog::Membership& Catalog::membership(DeviceIndex device) const {
  static const Membership kNone;
  if (!memberships_valid_) {
    memberships_.clear();
    for (std::size_t set = 1; set < sets_.size(); ++set) {
      if (!sets_[set]) continue;
      for (const DeviceIndex member : sets_[set]->devices) {
        if (member >= memberships_.size()) memberships_.resize(member + std::size_t{1});
        auto& sets = memberships_[member].sets;
        const auto index = static_cast<SetIndex>(set);
        if (sets.empty() || sets.back() != index) sets.push_back(index);
      }
    }
    for (std::size_t i = 1; i < allocators_.size(); ++i) {
      if (!allocators_[i]) continue;
      for (Membership& one : memberships_) {
        if (std::binary_search(one.sets.begin(), one.sets.end(), allocators_[i]->set)) {
          one.allocators.push_back(static_cast<AllocatorIndex>(i));
        }
      }
    }
    memberships_valid_ = true;
  }
  return device < memberships_.size() ? memberships_[device] : kNone;
}

const std::vector<SetIndex>& Catalog::sets_of(DeviceIndex device) const {
  return membership(device).sets;
}

const std::vector<AllocatorIndex>& Catalog::allocators_of(DeviceIndex device) const {
  return membership(device).allocators;
}

bool Catalog::covers(SetIndex set, DeviceIndex device) const {
  const auto& sets = sets_of(device);
  return std::binary_search(sets.begin(), sets.end(), set);
}

std::vector<DeviceIndex> Catalog::devices_in(SetIndex set) const {
  const DeviceSetRecord* record = device_set(set);
  return record ? record->devices : std::vector<DeviceIndex>();
}

bool Catalog::is_open(DeviceIndex index) const {
  const DeviceRecord* record = device(index);
  return record && record->open;
}

std::vector<Core> cores_in_order(const CoreSet& set) {
  std::vector<Core> result;
  const auto seen = places(set);
  for (std::size_t i = 0; i < seen.size() && result.size() < set.count; ++i) {
    if (seen[i]) {
      result.push_back(
          {set.type, static_cast<std::uint8_t>(i % 256), static_cast<std::uint8_t>(i / 256)});
    }
  }
  return result;
}

bool contains(const CoreSet& set, const Core& core) {
  return core.type == set.type &&
         std::any_of(set.ranges.begin(), set.ranges.end(), [&](const CoreRange& range) {
           return range.x0 <= core.x && core.x <= range.x1 && range.y0 <= core.y &&
                  core.y <= range.y1;
         });
}

std::string to_string(const CoreSet& set) {
  std::string text;
  for (const std::uint16_t bank : set.banks)
    text += fmt::format("{}{}", text.empty() ? "" : " ", bank);
  for (const CoreRange& range : set.ranges) {
    const bool one = range.x0 == range.x1 && range.y0 == range.y1;
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", range.x0, range.y0);
    if (!one) text += fmt::format("-{},{}", range.x1, range.y1);
  }
  return text;
}

std::vector<CoreRecord> cores_of(const DeviceRecord& device) {
  if (!device.cores.empty()) return device.cores;
  std::vector<CoreRecord> grid;
  const unsigned columns = std::min<unsigned>(device.grid_x, 256);
  const unsigned rows = std::min<unsigned>(device.grid_y, 256);
  for (unsigned y = 0; y < rows; ++y) {
    for (unsigned x = 0; x < columns; ++x) {
      CoreRecord record;
      record.core = {CoreType::kTensix, static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
      grid.push_back(record);
    }
  }
  return grid;
}

const CoreGeometry& geometry_of(const DeviceRecord& device, CoreType type) {
  static constexpr CoreGeometry kUnknown;
  const auto index = static_cast<std::size_t>(type);
  return index < kCoreTypes ? device.geometry[index] : kUnknown;
}

}  // namespace ttmem::ledger
