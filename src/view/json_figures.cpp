// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The table Figures of docs/json.md, written and read: both walk the table of figures.
#include <algorithm>
#include <string>

#include "ledger/figure_table.hpp"
#include "view/json_read_values.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"

namespace ttmem::view::json {
namespace {

using ledger::CoreType;
using ledger::Figure;
using ledger::FigureGroup;
using ledger::FigureRow;

constexpr std::size_t kMostRings = 64;

// The object of a group: "kernels.fabric" is two steps below the device.
template <typename Object, typename Step>
Object& object_of(Object& device, std::string_view path, Step step) {
  Object* place = &device;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    place = &step(*place, std::string(path.substr(0, end)));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return *place;
}

// The library makes an object of null by two steps, and is lost if memory is missing in between.
Json& child(Json& object, const std::string& name) {
  Json& found = object[name];
  if (found.is_null()) found = Json::object();
  return found;
}
const Json& child_if_any(const Json& object, const std::string& name) {
  return field(object, name.c_str());
}

Json headroom(const ledger::Headroom& figures) {
  Json core;
  if (figures.core) {
    core = {{"type", name(figures.core->type)}, {"x", figures.core->x}, {"y", figures.core->y}};
  }
  return {{"min", or_null(figures.min)},
          {"min_reserved", or_null(figures.min_reserved)},
          {"core", std::move(core)}};
}

CoreType read_core_type(const Json& object, const char* name) {
  return enumerator<CoreType>(object, name).value_or(CoreType::kTensix);
}

ledger::RingFigures read_ring(const Json& value) {
  ledger::RingFigures ring;
  ring.core_type = read_core_type(value, "core_type");
  for (const auto& [name, member] : ledger::kRingFigures) {
    ring.*member = number_or_0<std::uint64_t>(value, std::string(name).c_str());
  }
  ring.observed = string(value, "source") == "observed";
  return ring;
}

ledger::Headroom read_headroom(const Json& value) {
  ledger::Headroom headroom;
  headroom.min = number<std::int64_t>(value, "min");
  headroom.min_reserved = number<std::int64_t>(value, "min_reserved");
  const Json& core = field(value, "core");
  if (core.is_object()) {
    headroom.core = ledger::Core{read_core_type(core, "type"), number_or_0<std::uint8_t>(core, "x"),
                                 number_or_0<std::uint8_t>(core, "y")};
  }
  return headroom;
}

}  // namespace

Json ring(const ledger::RingFigures& figures) {
  Json value = {{"core_type", name(figures.core_type)}};
  for (const auto& [name, member] : ledger::kRingFigures)
    value[std::string(name)] = figures.*member;
  value["headroom"] = figures.headroom();
  value["source"] = figures.observed ? "observed" : "simulated";
  return value;
}

void add_figures(Json& device, const ledger::DeviceFigures& figures) {
  std::string_view path;  // of `object`: the figures of a group come one after the other
  Json* object = nullptr;
  const auto write = [&](const FigureGroup& group, const FigureRow& row, const Figure& figure) {
    if (path != group.path) object = &object_of(device, path = group.path, child);
    (*object)[std::string(row.name)] = or_null(figure);
  };
  ledger::for_each_figure(write, figures);
  ledger::for_each_derived_figure(write, figures);
  device["kernels"]["shared_code"] = Json::array();
  for (const ledger::SharedCode& code : figures.kernels.shared_code) {
    device["kernels"]["shared_code"].push_back(
        {{"name", text_or_null(code.name)}, {"bytes", code.bytes}, {"kernels", code.kernels}});
  }
  device["kernels"]["sizes"] = figures.kernels.stand_in ? "stand-in" : "true";
  const ledger::RingFigures* fullest = ledger::fullest_worker_ring(figures.rings);
  device["ring"] = fullest != nullptr ? ring(*fullest) : Json(nullptr);
  device["rings"] = Json::array();
  for (const ledger::RingFigures& each : figures.rings) device["rings"].push_back(ring(each));
  device["headroom"] = headroom(figures.headroom);
  device["basis"] = name(figures.basis);
  device["peak_basis"] = name(figures.peak_basis);
}

ledger::DeviceFigures read_figures(const Json& device) {
  ledger::DeviceFigures figures;
  ledger::for_each_figure(
      [&](const FigureGroup& group, const FigureRow& row, Figure& figure) {
        const Json& object = object_of(device, group.path, child_if_any);
        figure = number<std::uint64_t>(object, std::string(row.name).c_str());
      },
      figures);
  const Json& shared = field(field(device, "kernels"), "shared_code");
  const std::size_t told = shared.is_array() ? std::min(shared.size(), ledger::kSharedCodeTold) : 0;
  for (std::size_t i = 0; i < told; ++i) {
    figures.kernels.shared_code.push_back({string(shared[i], "name"),
                                           number_or_0<std::uint64_t>(shared[i], "bytes"),
                                           number_or_0<std::uint64_t>(shared[i], "kernels")});
  }
  figures.kernels.stand_in = string(field(device, "kernels"), "sizes") == "stand-in";
  const Json& rings = field(device, "rings");
  for (std::size_t i = 0; rings.is_array() && i < std::min(rings.size(), kMostRings); ++i) {
    figures.rings.push_back(read_ring(rings[i]));
  }
  figures.headroom = read_headroom(field(device, "headroom"));
  figures.basis = enumerator<ledger::Basis>(device, "basis").value_or(ledger::Basis::kBlocks);
  figures.peak_basis =
      enumerator<ledger::PeakBasis>(device, "peak_basis").value_or(ledger::PeakBasis::kExact);
  return figures;
}

}  // namespace ttmem::view::json
