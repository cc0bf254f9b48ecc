// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <charconv>

#include "view/json_read_values.hpp"
#include "view/words.hpp"

namespace ttmem::view::json {

using ledger::CoreType;
using ledger::KernelType;

// ---- values ------------------------------------------------------------------------------------

const Json& field(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string string(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

bool boolean(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_boolean() && value.get<bool>();
}

std::vector<std::string> strings(const Json& object, const char* name) {
  std::vector<std::string> values;
  const Json& list = field(object, name);
  if (!list.is_array()) return values;
  for (const Json& each : list) {
    if (each.is_string()) values.push_back(each.get<std::string>());
  }
  return values;
}

std::optional<std::uint64_t> id(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  std::uint64_t number = 0;
  if (text.size() < 3 || !text.starts_with("0x")) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// ---- figures -----------------------------------------------------------------------------------

namespace {

constexpr std::size_t kMostRings = 64;

ledger::Figure figure(const Json& object, const char* name) {
  return number<std::uint64_t>(object, name);
}

std::string_view core_type_name(CoreType type) { return name(type); }

ledger::SpaceFigures read_space(const Json& value) {
  ledger::SpaceFigures space;
  space.capacity = figure(value, "capacity");
  space.taken = figure(value, "taken");
  space.occupied = figure(value, "occupied");
  space.requested = figure(value, "requested");
  space.peak = figure(value, "peak");
  space.count = figure(value, "count");
  space.largest_free = figure(value, "largest_free");
  return space;
}

ledger::KernelFigures read_kernels(const Json& value) {
  ledger::KernelFigures kernels;
  for (std::size_t i = 0; i < ledger::kKernelTypes; ++i) {
    const std::string type(name(static_cast<KernelType>(i)));
    const Json& part = field(value, type.c_str());
    kernels.by_type[i] = {number_or_0<std::uint64_t>(part, "count"),
                          number_or_0<std::uint64_t>(part, "programs"),
                          number_or_0<std::uint64_t>(part, "footprint")};
  }
  const Json& types = field(value, "by_core_type");
  for (std::size_t i = 0; i < ledger::kCoreTypes; ++i) {
    const std::string type(name(static_cast<CoreType>(i)));
    kernels.by_core_type[i] = number_or_0<std::uint64_t>(types, type.c_str());
  }
  kernels.registered = number_or_0<std::uint64_t>(value, "registered");
  kernels.in_dram = figure(value, "in_dram");
  kernels.unique_bytes = figure(value, "unique_bytes");
  kernels.dispatches = figure(value, "dispatches");
  kernels.first_loads = figure(value, "first_loads");
  kernels.cache_hits = figure(value, "cache_hits");
  kernels.reloads = figure(value, "reloads");
  kernels.evictions = figure(value, "evictions");
  kernels.captures = figure(value, "captures");
  kernels.replays = figure(value, "replays");
  kernels.stand_in = string(value, "sizes") == "stand-in";
  return kernels;
}

ledger::RingFigures read_ring(const Json& value) {
  ledger::RingFigures ring;
  ring.core_type = word<CoreType>(field(value, "core_type"), ledger::kCoreTypes, core_type_name)
                       .value_or(CoreType::kTensix);
  ring.queue = number_or_0<std::uint32_t>(value, "queue");
  ring.sub_device = number_or_0<std::uint32_t>(value, "sub_device");
  ring.capacity = number_or_0<std::uint32_t>(value, "capacity");
  ring.used = number_or_0<std::uint32_t>(value, "used");
  ring.programs = number_or_0<std::uint32_t>(value, "programs");
  ring.largest_program = number_or_0<std::uint32_t>(value, "largest_program");
  ring.high_water = number_or_0<std::uint32_t>(value, "high_water");
  ring.evictions = number_or_0<std::uint64_t>(value, "evictions");
  ring.reloads = number_or_0<std::uint64_t>(value, "reloads");
  ring.observed = string(value, "source") == "observed";
  return ring;
}

ledger::Headroom read_headroom(const Json& value) {
  ledger::Headroom headroom;
  headroom.min = number<std::int64_t>(value, "min");
  headroom.min_reserved = number<std::int64_t>(value, "min_reserved");
  const Json& core = field(value, "core");
  if (core.is_object()) {
    headroom.core =
        ledger::Core{word<CoreType>(field(core, "type"), ledger::kCoreTypes, core_type_name)
                         .value_or(CoreType::kTensix),
                     number_or_0<std::uint8_t>(core, "x"), number_or_0<std::uint8_t>(core, "y")};
  }
  return headroom;
}

}  // namespace

ledger::DeviceFigures read_figures(const Json& device) {
  ledger::DeviceFigures figures;
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    figures.space(space) = read_space(field(device, std::string(name(space)).c_str()));
  }
  figures.l1_capacity = figure(field(device, "l1_total"), "capacity");
  figures.l1_used = figure(field(device, "l1_total"), "used");
  const Json& program_l1 = field(device, "program_l1");
  figures.program_l1 = {figure(program_l1, "resident"), figure(program_l1, "reserved"),
                        figure(program_l1, "allocated"), figure(program_l1, "peak"),
                        figure(program_l1, "count")};
  figures.kernels = read_kernels(field(device, "kernels"));
  const Json& rings = field(device, "rings");
  for (std::size_t i = 0; rings.is_array() && i < std::min(rings.size(), kMostRings); ++i) {
    figures.rings.push_back(read_ring(rings[i]));
  }
  figures.headroom = read_headroom(field(device, "headroom"));
  figures.basis = word<ledger::Basis>(field(device, "basis"), 3, [](ledger::Basis basis) {
                    return name(basis);
                  }).value_or(ledger::Basis::kBlocks);
  figures.peak_basis = string(device, "peak_basis") == name(ledger::PeakBasis::kObserved)
                           ? ledger::PeakBasis::kObserved
                           : ledger::PeakBasis::kExact;
  return figures;
}

}  // namespace ttmem::view::json
