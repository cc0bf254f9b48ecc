// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/json_values.hpp"
#include "view/ring_choice.hpp"
#include "view/words.hpp"

namespace ttmem::view::json {
namespace {

using ledger::CoreType;
using ledger::KernelType;

Json space(const ledger::SpaceFigures& figures) {
  return {{"capacity", or_null(figures.capacity)},
          {"taken", or_null(figures.taken)},
          {"occupied", or_null(figures.occupied)},
          {"requested", or_null(figures.requested)},
          {"peak", or_null(figures.peak)},
          {"count", or_null(figures.count)},
          {"largest_free", or_null(figures.largest_free)}};
}

Json program_l1(const ledger::ProgramL1Figures& figures) {
  return {{"resident", or_null(figures.resident)},
          {"reserved", or_null(figures.reserved)},
          {"allocated", or_null(figures.allocated)},
          {"peak", or_null(figures.peak)},
          {"count", or_null(figures.count)}};
}

// A source without programs knows no kernels either.
bool kernels_known(const ledger::KernelFigures& kernels) { return kernels.dispatches.has_value(); }

Json known_or_null(bool known, std::uint64_t value) { return known ? Json(value) : Json(nullptr); }

Json kernel_type(const ledger::KernelTypeFigures& figures, bool known) {
  return {{"count", known_or_null(known, figures.count)},
          {"programs", known_or_null(known, figures.programs)},
          {"footprint", known_or_null(known, figures.footprint)}};
}

Json by_core_type(const ledger::KernelFigures& kernels, bool known) {
  Json types = Json::object();
  for (std::size_t type = 0; type < ledger::kCoreTypes; ++type) {
    types[std::string(name(static_cast<CoreType>(type)))] =
        known_or_null(known, kernels.by_core_type[type]);
  }
  return types;
}

Json kernels(const ledger::KernelFigures& figures) {
  const bool known = kernels_known(figures);
  Json value;
  for (const KernelType type :
       {KernelType::kApplication, KernelType::kFabric, KernelType::kDispatch}) {
    value[std::string(name(type))] =
        kernel_type(figures.by_type[static_cast<std::size_t>(type)], known);
  }
  value["system"] = kernel_type(figures.system(), known);
  value["total"] = kernel_type(figures.total(), known);
  value["registered"] = known_or_null(known, figures.registered);
  value["in_dram"] = or_null(figures.in_dram);
  value["unique_bytes"] = or_null(figures.unique_bytes);
  value["by_core_type"] = by_core_type(figures, known);
  value["dispatches"] = or_null(figures.dispatches);
  value["first_loads"] = or_null(figures.first_loads);
  value["cache_hits"] = or_null(figures.cache_hits);
  value["reloads"] = or_null(figures.reloads);
  value["evictions"] = or_null(figures.evictions);
  value["captures"] = or_null(figures.captures);
  value["replays"] = or_null(figures.replays);
  value["sizes"] = figures.stand_in ? "stand-in" : "true";
  return value;
}

Json ring(const ledger::RingFigures& figures) {
  return {{"core_type", name(figures.core_type)},
          {"queue", figures.queue},
          {"sub_device", figures.sub_device},
          {"capacity", figures.capacity},
          {"used", figures.used},
          {"programs", figures.programs},
          {"largest_program", figures.largest_program},
          {"high_water", figures.high_water},
          {"headroom", figures.headroom()},
          {"evictions", figures.evictions},
          {"reloads", figures.reloads},
          {"source", figures.observed ? "observed" : "simulated"}};
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

}  // namespace

void add_figures(Json& device, const ledger::DeviceFigures& figures) {
  for (const ledger::Space which : ledger::kDeviceSpaces) {
    device[std::string(name(which))] = space(figures.space(which));
  }
  device["l1_total"] = {{"capacity", or_null(figures.l1_capacity)},
                        {"used", or_null(figures.l1_used)}};
  device["program_l1"] = program_l1(figures.program_l1);
  device["kernels"] = kernels(figures.kernels);
  const ledger::RingFigures* fullest = fullest_worker_ring(figures.rings);
  device["ring"] = fullest != nullptr ? ring(*fullest) : Json(nullptr);
  device["rings"] = Json::array();
  for (const ledger::RingFigures& each : figures.rings) device["rings"].push_back(ring(each));
  device["headroom"] = headroom(figures.headroom);
  device["basis"] = name(figures.basis);
  device["peak_basis"] = name(figures.peak_basis);
}

}  // namespace ttmem::view::json
