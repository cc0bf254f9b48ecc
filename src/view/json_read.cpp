// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <cstdint>

#include "view/json.hpp"
#include "view/json_read_values.hpp"
#include "view/labels.hpp"

namespace ttmem::view {
namespace json {
namespace {

constexpr std::size_t kAnomalyKinds = 64;

ledger::HostDevice read_host(const Json& value) {
  ledger::HostDevice host;
  host.node = number_or_0<std::uint32_t>(value, "node");
  host.bus = string(value, "bus");
  host.joined_by = string(value, "joined_by");
  host.temperature_millidegrees = number<std::int64_t>(value, "temperature_millidegrees");
  host.power_microwatts = number<std::int64_t>(value, "power_microwatts");
  host.voltage_millivolts = number<std::int64_t>(value, "voltage_millivolts");
  host.current_milliamperes = number<std::int64_t>(value, "current_milliamperes");
  host.fan_rpm = number<std::int64_t>(value, "fan_rpm");
  host.aiclk_mhz = number<std::int64_t>(value, "aiclk_mhz");
  host.axiclk_mhz = number<std::int64_t>(value, "axiclk_mhz");
  host.arcclk_mhz = number<std::int64_t>(value, "arcclk_mhz");
  host.heartbeat = number<std::int64_t>(value, "heartbeat");
  return host;
}

ledger::DeviceView read_device(const Json& value) {
  ledger::DeviceView device;
  device.id = number_or_0<std::uint32_t>(value, "id");
  device.unique_id = id(field(value, "unique_id")).value_or(0);
  device.board = string(value, "board");
  device.arch = enumerator<ledger::Arch>(value, "arch").value_or(ledger::Arch::kUnknown);
  device.mock = boolean(value, "mock");
  device.grid_x = number_or_0<std::uint16_t>(field(value, "grid"), "x");
  device.grid_y = number_or_0<std::uint16_t>(field(value, "grid"), "y");
  device.tensix_cores = number_or_0<std::uint32_t>(value, "tensix_cores");
  device.eth_cores = number_or_0<std::uint32_t>(value, "eth_cores");
  device.dispatch_cores = number_or_0<std::uint32_t>(value, "dispatch_cores");
  device.l1_bytes_per_core = number<std::uint32_t>(value, "l1_bytes_per_core");
  device.dram_banks = number<std::uint32_t>(value, "dram_banks");
  device.processes = number_or_0<std::uint32_t>(value, "processes");
  if (field(value, "host").is_object()) device.host = read_host(field(value, "host"));
  device.figures = read_figures(value);
  return device;
}

ledger::Tracking read_tracking(const Json& value) {
  ledger::Tracking tracking;
  if (field(value, "exact").is_boolean()) tracking.exact = boolean(value, "exact");
  tracking.difference_bytes = number_or_0<std::int64_t>(value, "difference_bytes");
  tracking.since_open = string(value, "since") != "attach";
  tracking.partial = boolean(value, "partial");
  tracking.disconnected = boolean(value, "disconnected");
  tracking.hooks_missing = strings(value, "hooks_missing");
  tracking.lines = ledger::named<ledger::Lines>(string(value, "lines")).value_or(ledger::Lines());
  tracking.lines_reason = string(value, "lines_reason");
  tracking.unreached = boolean(value, "unreached");
  tracking.stacks_cut = boolean(value, "stacks_cut");
  tracking.unrecorded = number_or_0<std::uint64_t>(value, "unrecorded");
  tracking.lost_events = number_or_0<std::uint64_t>(value, "lost_events");
  tracking.unsettled = number_or_0<std::uint64_t>(value, "unsettled");
  tracking.dangling = number_or_0<std::uint64_t>(value, "dangling");
  const Json& anomalies = field(value, "anomalies");
  for (std::size_t kind = 0; kind < kAnomalyKinds && !anomalies.empty(); ++kind) {
    const auto count = number<std::uint64_t>(anomalies, ledger::anomaly_name(kind).c_str());
    if (!count) continue;
    tracking.anomalies.resize(kind + 1);
    tracking.anomalies[kind] = *count;
  }
  tracking.not_tmpfs = boolean(value, "not_tmpfs");
  tracking.growth_stopped = boolean(value, "growth_stopped");
  tracking.upstream_difference_bytes = number<std::int64_t>(value, "upstream_difference_bytes");
  return tracking;
}

ledger::FailureView read_failure(const Json& value) {
  ledger::FailureView failure;
  failure.number = number_or_0<std::uint32_t>(value, "number");
  failure.kind = string(value, "kind");
  failure.time = number_or_0<std::uint64_t>(value, "time_ns");
  failure.message = string(value, "message");
  failure.requested = number<std::uint64_t>(value, "requested");
  failure.per_bank = number<std::uint64_t>(value, "per_bank");
  failure.space = enumerator<ledger::Space>(value, "space");
  failure.program = id(field(value, "program"));
  for (const std::string& each : strings(value, "devices")) {
    if (const auto device = id(Json(each))) failure.devices.push_back(*device);
  }
  failure.cores = string(value, "cores");
  failure.operation = string(value, "operation");
  failure.line = string(value, "line");
  failure.region = string(value, "region");
  failure.holdings = number_or_0<std::uint32_t>(value, "holdings");
  failure.truncated = boolean(value, "truncated");
  return failure;
}

ledger::ProcessDeviceView read_process_device(const Json& value) {
  ledger::ProcessDeviceView device;
  device.id = number_or_0<std::uint32_t>(value, "id");
  device.unique_id = id(field(value, "unique_id")).value_or(0);
  device.metal_id = number<std::int32_t>(value, "metal_id");
  device.open = boolean(value, "open");
  device.in_mesh = boolean(value, "in_mesh");
  device.contradiction = enumerator<ledger::Contradiction>(value, "contradiction")
                             .value_or(ledger::Contradiction::kNone);
  device.figures = read_figures(value);
  return device;
}

ledger::MeshView read_mesh(const Json& value) {
  ledger::MeshView mesh;
  mesh.rows = number_or_0<std::uint16_t>(value, "rows");
  mesh.columns = number_or_0<std::uint16_t>(value, "columns");
  for (const Json& each : field(value, "devices")) {
    if (each.is_number_unsigned()) mesh.devices.push_back(each.get<std::uint32_t>());
  }
  return mesh;
}

ledger::Job read_job(const Json& value) {
  ledger::Job job;
  job.key = string(value, "key");
  job.name = string(value, "name");
  job.source = enumerator<ledger::JobSource>(value, "source").value_or(ledger::JobSource::kNone);
  job.rank = number<std::uint32_t>(value, "rank");
  job.ranks = number<std::uint32_t>(value, "ranks");
  job.mesh = number<std::uint32_t>(value, "mesh");
  job.mesh_host_rank = number<std::uint32_t>(value, "mesh_host_rank");
  job.slurm = string(value, "slurm");
  return job;
}

ledger::Pod read_pod(const Json& value) {
  return {string(value, "uid"), string(value, "name"), string(value, "namespace"),
          string(value, "container")};
}

ledger::ProcessView read_process(const Json& value) {
  ledger::ProcessView process;
  process.pid = number_or_0<std::int32_t>(value, "pid");
  process.start = number_or_0<std::uint64_t>(value, "start");
  process.name = string(value, "name");
  process.command = string(value, "command");
  process.hidden = boolean(value, "hidden");
  process.user = string(value, "user");
  process.uid = number_or_0<std::uint32_t>(value, "uid");
  process.segment = string(value, "segment");
  process.alive = boolean(value, "alive");
  process.ended = enumerator<ledger::Ended>(value, "ended").value_or(ledger::Ended::kAlive);
  process.started = number_or_0<std::uint64_t>(value, "started_ns");
  process.ended_at = number_or_0<std::uint64_t>(value, "ended_ns");
  for (const std::string& each : strings(value, "sources")) {
    if (const auto source = ledger::named<ledger::Source>(each)) process.sources.push_back(*source);
  }
  process.runtime_version = string(value, "runtime_version");
  process.container = string(value, "container");
  if (field(value, "job").is_object()) process.job = read_job(field(value, "job"));
  if (field(value, "pod").is_object()) process.pod = read_pod(field(value, "pod"));
  process.host_pid = number<std::int32_t>(value, "host_pid");
  process.tracking = read_tracking(field(value, "tracking"));
  for (const Json& each : field(value, "failures")) {
    process.failures.push_back(read_failure(each));
  }
  process.failure_count =
      number<std::uint64_t>(value, "failure_count").value_or(process.failures.size());
  for (const Json& each : field(value, "devices")) {
    process.devices.push_back(read_process_device(each));
    process.stand_in_kernels |= process.devices.back().figures.kernels.stand_in;
  }
  for (const Json& each : field(value, "meshes")) process.meshes.push_back(read_mesh(each));
  process.events = number_or_0<std::uint64_t>(value, "events");
  return process;
}

// How many views the document asks for. A real one has far more text for each.
constexpr std::size_t kLeastBytesAView = 512;

std::size_t count_views(const Json& document) {
  std::size_t count = field(document, "devices").size();
  for (const Json& process : field(document, "processes")) {
    count += 1 + field(process, "devices").size() + field(process, "failures").size();
  }
  return count;
}

}  // namespace
}  // namespace json

std::optional<ledger::Snapshot> read_snapshot(std::string_view text) {
  using json::field;
  if (text.size() > kMostSnapshotBytes) return std::nullopt;
  const json::Json document = json::Json::parse(text, nullptr, false);
  if (!document.is_object() || json::string(document, "document") != "snapshot" ||
      json::number<int>(document, "schema") != kJsonSchema) {
    return std::nullopt;
  }
  if (json::count_views(document) > text.size() / json::kLeastBytesAView) return std::nullopt;
  ledger::Snapshot snapshot;
  snapshot.host = json::string(document, "host");
  snapshot.boot_id = json::string(document, "boot_id");
  snapshot.time = json::number_or_0<std::uint64_t>(document, "time_ns");
  for (const auto& each : field(document, "devices")) {
    snapshot.devices.push_back(json::read_device(each));
  }
  for (const auto& each : field(document, "processes")) {
    snapshot.processes.push_back(json::read_process(each));
    snapshot.processes.back().key = snapshot.processes.size();
  }
  snapshot.unreadable = json::strings(document, "unreadable");
  snapshot.directories = json::strings(document, "directories");
  snapshot.left_behind = json::strings(document, "left_behind");
  return snapshot;
}

}  // namespace ttmem::view
