// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "ledger/saturating.hpp"
#include "view/answer_shares.hpp"
#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace json {

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json time_or_null(ledger::TimeNs time) { return time == 0 ? Json(nullptr) : Json(time); }

Json stack_or_null(const ledger::Stack& stack) { return stack ? Json(*stack) : Json(nullptr); }

Json id_text(std::uint64_t id) { return hex_text(id); }

Json head(std::string_view document, const ledger::Snapshot& snapshot) {
  return {{"schema", kJsonSchema},
          {"document", document},
          {"host", snapshot.host},
          {"boot_id", snapshot.boot_id},
          {"time_ns", snapshot.time}};
}

namespace {

// The code of a character at `at` that must not reach a terminal as it is, and its bytes; 0 if it
// is none: C1 controls, DEL, and what turns the direction of writing.
struct Unsafe {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

Unsafe unsafe_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  if (byte(0) == 0x7F) return {0x7F, 1};
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return {byte(1), 2};
  if (byte(0) == 0xD8 && byte(1) == 0x9C) return {0x061C, 2};
  if (byte(0) != 0xE2 || (byte(1) != 0x80 && byte(1) != 0x81)) return {};
  const std::uint32_t code = 0x2000 + ((byte(1) & 0x3F) << 6) + (byte(2) & 0x3F);
  const bool marks = code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
  return {marks ? code : 0, 3};
}

}  // namespace

// Whoever prints our JSON on a terminal must not be fooled by a name in it. Outside of strings JSON
// has none of these characters.
std::string text(const Json& value, JsonLayout layout) {
  const int indent = layout == JsonLayout::kPretty ? 2 : -1;
  std::string raw = value.dump(indent, ' ', false, Json::error_handler_t::replace);
  const auto may_be_unsafe = [](char c) {
    return c == '\x7F' || c == '\xC2' || c == '\xD8' || c == '\xE2';
  };
  auto next = std::ranges::find_if(raw, may_be_unsafe);
  if (next == raw.end()) return raw;
  std::string safe;
  std::size_t begin = 0;
  for (; next != raw.end(); next = std::find_if(next + 1, raw.end(), may_be_unsafe)) {
    const auto at = static_cast<std::size_t>(next - raw.begin());
    const Unsafe found = unsafe_at(raw, at);
    if (found.code == 0) continue;
    safe.append(raw, begin, at - begin);
    safe += fmt::format("\\u{:04x}", found.code);
    begin = at + found.bytes;
  }
  return safe.append(raw, begin);
}

void add_process(Json& value, const ledger::ProcessName& process) {
  value["pid"] = process.pid;
  value["start"] = process.start;
  value["segment"] = text_or_null(process.segment);
  value["process"] = process.name;
}

namespace {

Json grid(const ledger::DeviceView& device) {
  if (device.grid_x == 0) return nullptr;
  return {{"x", device.grid_x}, {"y", device.grid_y}};
}

Json host(const ledger::HostDevice& view) {
  return {{"node", view.node},
          {"bus", text_or_null(view.bus)},
          {"joined_by", text_or_null(view.joined_by)},
          {"temperature_millidegrees", or_null(view.temperature_millidegrees)},
          {"power_microwatts", or_null(view.power_microwatts)},
          {"voltage_millivolts", or_null(view.voltage_millivolts)},
          {"current_milliamperes", or_null(view.current_milliamperes)},
          {"fan_rpm", or_null(view.fan_rpm)},
          {"aiclk_mhz", or_null(view.aiclk_mhz)},
          {"axiclk_mhz", or_null(view.axiclk_mhz)},
          {"arcclk_mhz", or_null(view.arcclk_mhz)},
          {"heartbeat", or_null(view.heartbeat)}};
}

Json nominal(const std::optional<ledger::NominalCapacity>& capacity) {
  if (!capacity) return nullptr;
  return {{"dram_bytes", capacity->dram_bytes},
          {"dram_channels", capacity->dram_channels},
          {"tensix_cores", capacity->tensix_cores},
          {"l1_bytes_per_core", capacity->l1_bytes_per_core},
          {"l1_bytes", capacity->l1_bytes()}};
}

}  // namespace

Json device(const ledger::DeviceView& view) {
  const bool cores_known = view.tensix_cores + view.eth_cores + view.dispatch_cores > 0;
  const auto cores = [&](std::uint32_t count) { return cores_known ? Json(count) : Json(nullptr); };
  Json value = {{"id", view.id},
                {"unique_id", unique_id_text(view.unique_id)},
                {"board", text_or_null(view.board)},
                {"arch", name(view.arch)},
                {"mock", view.mock},
                {"grid", grid(view)},
                {"tensix_cores", cores(view.tensix_cores)},
                {"eth_cores", cores(view.eth_cores)},
                {"dispatch_cores", cores(view.dispatch_cores)},
                {"l1_bytes_per_core", or_null(view.l1_bytes_per_core)},
                {"dram_banks", or_null(view.dram_banks)},
                {"processes", view.processes},
                {"nominal", nominal(view.nominal())},
                {"host", view.host ? host(*view.host) : Json(nullptr)}};
  add_figures(value, view.figures);
  return value;
}

namespace {

Json process_device(const ledger::ProcessDeviceView& view, ProcessDetail detail) {
  Json value = {{"id", view.id},
                {"unique_id", unique_id_text(view.unique_id)},
                {"metal_id", or_null(view.metal_id)},
                {"open", view.open},
                {"in_mesh", view.in_mesh},
                {"contradiction", view.counts() ? Json(nullptr) : Json(name(view.contradiction))}};
  if (detail == ProcessDetail::kFull) add_figures(value, view.figures);
  return value;
}

Json anomalies(const std::vector<std::uint64_t>& counts) {
  Json value = Json::object();
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] > 0) value[ledger::anomaly_name(kind)] = counts[kind];
  }
  return value;
}

Json tracking(const ledger::Tracking& view) {
  const Json difference = view.exact ? Json(view.difference_bytes) : Json(nullptr);
  return {{"exact", or_null(view.exact)},
          {"difference_bytes", difference},
          {"since", view.since_open ? "open" : "attach"},
          {"partial", view.partial},
          {"disconnected", view.disconnected},
          {"hooks_missing", view.hooks_missing},
          {"unrecorded", view.unrecorded},
          {"lost_events", view.lost_events},
          {"unsettled", view.unsettled},
          {"dangling", view.dangling},
          {"anomalies", anomalies(view.anomalies)},
          {"not_tmpfs", view.not_tmpfs},
          {"growth_stopped", view.growth_stopped},
          {"unreached", view.unreached},
          {"lines", view.lines == ledger::Lines::kUnknown ? Json(nullptr) : Json(name(view.lines))},
          {"lines_reason", text_or_null(view.lines_reason)},
          {"stacks_cut", view.stacks_cut},
          {"upstream_difference_bytes", or_null(view.upstream_difference_bytes)}};
}

Json sources(const std::vector<ledger::Source>& sources) {
  Json value = Json::array();
  for (const ledger::Source source : sources) value.push_back(name(source));
  return value;
}

Json mesh(const ledger::MeshView& view) {
  return {{"rows", view.rows}, {"columns", view.columns}, {"devices", view.devices}};
}

Json pod(const ledger::Pod& view) {
  if (view == ledger::Pod{}) return nullptr;
  return {{"uid", text_or_null(view.uid)},
          {"name", text_or_null(view.name)},
          {"namespace", text_or_null(view.name_space)},
          {"container", text_or_null(view.container)}};
}

Json job(const ledger::Job& view) {
  if (view.key.empty()) return nullptr;
  return {{"key", view.key},
          {"name", text_or_null(view.name)},
          {"source", name(view.source)},
          {"rank", or_null(view.rank)},
          {"ranks", or_null(view.ranks)},
          {"mesh", or_null(view.mesh)},
          {"mesh_host_rank", or_null(view.mesh_host_rank)},
          {"slurm", text_or_null(view.slurm)}};
}

Json held(const ledger::ProcessView& view) {
  using ledger::DeviceFigures;
  using ledger::Space;
  const auto sum = [&](auto figure_of) { return or_null(over_devices(view, figure_of)); };
  const auto taken = [&](Space space) {
    return sum([space](const DeviceFigures& on) { return on.space(space).taken; });
  };
  const auto requested = [&](Space space) {
    return sum([space](const DeviceFigures& on) { return on.space(space).requested; });
  };
  return {{"dram", taken(Space::kDram)},
          {"dram_requested", requested(Space::kDram)},
          {"l1", taken(Space::kL1)},
          {"l1_requested", requested(Space::kL1)},
          {"l1_small", taken(Space::kL1Small)},
          {"trace", taken(Space::kTrace)},
          {"program_l1", sum([](const DeviceFigures& on) { return on.program_l1.resident; })},
          {"kernels", sum([](const DeviceFigures& on) { return on.kernels.total().footprint; })},
          {"dispatches", sum([](const DeviceFigures& on) { return on.kernels.dispatches; })}};
}

}  // namespace

void add_row(Json& rows, Json row, std::uint64_t process_key, AnswerShares* shares) {
  if (shares && !shares->take(process_key, text(row, JsonLayout::kCompact).size())) return;
  rows.push_back(std::move(row));
}

std::uint64_t left_out(const AnswerShares* shares) { return shares ? shares->left_out() : 0; }

Json process(const ledger::ProcessView& view, ProcessDetail detail) {
  Json value = {{"pid", view.pid},
                {"start", view.start},
                {"name", view.name},
                {"command", view.hidden ? Json(nullptr) : Json(view.command)},
                {"hidden", view.hidden},
                {"user", text_or_null(view.user)},
                {"uid", view.uid},
                {"segment", text_or_null(view.segment)},
                {"alive", view.alive},
                {"ended", view.alive ? Json(nullptr) : Json(name(view.ended))},
                {"started_ns", time_or_null(view.started)},
                {"ended_ns", time_or_null(view.ended_at)},
                {"sources", sources(view.sources)},
                {"runtime_version", text_or_null(view.runtime_version)},
                {"container", text_or_null(view.container)},
                {"pod", pod(view.pod)},
                {"job", job(view.job)},
                {"host_pid", or_null(view.host_pid)},
                {"tracking", tracking(view.tracking)},
                {"failures", Json::array()},
                {"failure_count", view.failure_count},
                {"devices", Json::array()},
                {"meshes", Json::array()},
                {"held", held(view)},
                {"events", view.events}};
  for (const auto& each : view.failures) value["failures"].push_back(failure(each));
  for (const auto& each : view.devices) value["devices"].push_back(process_device(each, detail));
  for (const auto& each : view.meshes) value["meshes"].push_back(mesh(each));
  return value;
}

}  // namespace json

std::string snapshot_json(const ledger::Snapshot& snapshot, JsonLayout layout) {
  json::Json document = json::head("snapshot", snapshot);
  json::snapshot_fields(snapshot.devices, snapshot.processes, snapshot,
                        [&](const char* name, const auto& list) {
                          document[name] = json::Json::array();
                          for (const auto& each : list)
                            document[name].push_back(json::json_of(each));
                        });
  return json::text(document, layout);
}

}  // namespace ttmem::view
