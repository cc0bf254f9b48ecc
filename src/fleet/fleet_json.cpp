// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/fleet_text.hpp"
#include "view/json_values.hpp"

namespace ttmem::fleet {
namespace {

using view::json::Json;
using view::json::or_null;
using view::json::text_or_null;

Json head_of(const char* document, std::uint64_t time_ns) {
  return {{"schema", view::kJsonSchema}, {"document", document}, {"time_ns", time_ns}};
}

Json json_of(const HostRow& host) {
  return {{"host", host.name},
          {"state", ledger::name(host.state)},
          {"problem", text_or_null(host.problem)},
          {"age_ns", or_null(host.age_ns)},
          {"devices", or_null(host.devices)},
          {"devices_in_use", or_null(host.in_use)},
          {"devices_untold", or_null(host.untold)},
          {"processes", or_null(host.processes)},
          {"dram", or_null(host.dram)},
          {"dram_capacity", or_null(host.dram_capacity)},
          {"l1", or_null(host.l1)},
          {"l1_capacity", or_null(host.l1_capacity)},
          {"headroom", or_null(host.headroom)}};
}

Json json_of(const FirstDeath& death) {
  return {{"time_ns", view::json::time_or_null(death.time_ns)},
          {"rank", text_or_null(death.rank)},
          {"host", text_or_null(death.host)},
          {"dram", or_null(death.dram)},
          {"l1", or_null(death.l1)}};
}

Json json_of(const JobRow& job) {
  return {{"key", job.key},
          {"name", text_or_null(job.name)},
          {"user", text_or_null(job.user)},
          {"hosts", or_null(job.hosts)},
          {"ranks_present", or_null(job.present)},
          {"ranks_expected", or_null(job.expected)},
          {"ranks_died", or_null(job.died)},
          {"dram", or_null(job.dram)},
          {"l1", or_null(job.l1)},
          {"dram_least_rank", or_null(job.dram_least)},
          {"dram_most_rank", or_null(job.dram_most)},
          {"headroom", or_null(job.headroom)},
          {"headroom_rank", text_or_null(job.headroom_rank)},
          {"headroom_host", text_or_null(job.headroom_host)},
          {"first_death", job.first_death ? json_of(*job.first_death) : Json(nullptr)}};
}

Json json_of(const DeviceRow& device) {
  return {{"id", device.id},
          {"unique_id", text_or_null(device.unique_id)},
          {"board", text_or_null(device.board)},
          {"dram", or_null(device.dram)},
          {"dram_capacity", or_null(device.dram_capacity)},
          {"l1", or_null(device.l1)},
          {"l1_capacity", or_null(device.l1_capacity)},
          {"headroom", or_null(device.headroom)},
          {"processes", or_null(device.processes)},
          {"temperature_celsius", or_null(device.temperature)},
          {"power_watts", or_null(device.power)}};
}

template <typename Rows>
Json list_of(const Rows& rows) {
  Json list = Json::array();
  for (const auto& each : rows) list.push_back(json_of(each));
  return list;
}

std::string text_of(const Json& document) {
  return view::json::text(document, view::JsonLayout::kPretty) + "\n";
}

}  // namespace

std::string fleet_json(const Fleet& fleet) {
  const FleetTotals totals = totals_of(fleet);
  Json document = head_of("fleet", fleet.time_ns);
  document["source"] = text_or_null(fleet.source);
  document["partial"] = fleet.is_partial();
  document["hosts_fresh"] = fleet.fresh();
  document["devices"] = totals.devices;
  document["devices_in_use"] = totals.in_use;
  document["devices_untold"] = totals.untold;
  document["dram"] = or_null(totals.dram);
  document["dram_capacity"] = or_null(totals.dram_capacity);
  document["l1"] = or_null(totals.l1);
  document["l1_capacity"] = or_null(totals.l1_capacity);
  document["headroom"] = or_null(totals.headroom);
  document["hosts"] = list_of(fleet.hosts);
  document["jobs"] = list_of(fleet.jobs);
  document["alerts"] = fleet.alerts;
  document["problems"] = fleet.problems;
  return text_of(document);
}

std::string host_json(const std::string& host, const std::vector<DeviceRow>& devices,
                      std::uint64_t time_ns) {
  Json document = head_of("fleet_host", time_ns);
  document["host"] = host;
  document["devices"] = list_of(devices);
  return text_of(document);
}

std::string device_json(const std::string& host, const std::string& device,
                        const std::vector<FigureRow>& figures, std::uint64_t time_ns) {
  Json document = head_of("fleet_device", time_ns);
  document["host"] = host;
  document["device"] = device;
  document["figures"] = Json::array();
  for (const FigureRow& row : figures) {
    document["figures"].push_back(
        {{"space", row.space}, {"figure", row.figure}, {"bytes", row.bytes}});
  }
  return text_of(document);
}

}  // namespace ttmem::fleet
