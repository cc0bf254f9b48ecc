// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The tables of docs/json.md as JSON values; json_*.cpp puts documents together from them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "explain/findings.hpp"
#include "ledger/figures.hpp"
#include "ledger/jobs.hpp"
#include "ledger/snapshot.hpp"
#include "view/json.hpp"

namespace ttmem::view::json {

using Json = nlohmann::ordered_json;

// "" = not known = null; the same for a time of 0.
Json text_or_null(std::string_view text);
Json time_or_null(ledger::TimeNs time);
Json id_text(std::uint64_t id);
Json stack_or_null(const ledger::Stack& stack);
template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
// The value of a field that only some kinds of thing have.
template <typename T>
Json if_has(bool has, const T& value) {
  return has ? Json(value) : Json(nullptr);
}

// Appends the fields of the table Figures to a device.
void add_figures(Json& device, const ledger::DeviceFigures& figures);

Json ring(const ledger::RingFigures& figures);

// Appends pid, start, segment and name of the process that something belongs to.
void add_process(Json& value, const ledger::ProcessName& process);

// The document `snapshot` after its head: `add` gets the name of each field and a list of devices,
// of processes or of texts, in the order of the document.
template <typename Devices, typename Processes, typename Add>
void snapshot_fields(Devices& devices, Processes& processes, const ledger::Snapshot& rest,
                     const Add& add) {
  add("devices", devices);
  add("processes", processes);
  add("unreadable", rest.unreadable);
  add("directories", rest.directories);
  add("left_behind", rest.left_behind);
}

// Adds a row about a process, unless that is more than its owner's share; null: all fits.
void add_row(Json& rows, Json row, std::uint64_t process_key, AnswerShares* shares);
std::uint64_t left_out(const AnswerShares* shares);

Json device(const ledger::DeviceView& device);
// kBrief leaves out what the process holds on each device: what it holds in all stays.
enum class ProcessDetail : std::uint8_t { kFull, kBrief };
Json process(const ledger::ProcessView& process, ProcessDetail detail = ProcessDetail::kFull);
// The same by type.
inline Json json_of(const ledger::DeviceView& view, ProcessDetail = ProcessDetail::kFull) {
  return device(view);
}
inline Json json_of(const ledger::ProcessView& view, ProcessDetail detail = ProcessDetail::kFull) {
  return process(view, detail);
}
inline Json json_of(const std::string& text) { return text; }
Json job(const ledger::JobView& job);
Json failure(const ledger::FailureView& failure);
// `sources`: what stands in a line of code, where somebody could read it.
Json findings(const explain::Findings& findings, const std::map<std::string, std::string>& sources);
Json holding(const ledger::HoldingView& holding);

// The first fields of every document.
Json head(std::string_view document, const ledger::Snapshot& snapshot);
// Invalid UTF-8 in names of strangers becomes U+FFFD.
std::string text(const Json& value, JsonLayout layout);

}  // namespace ttmem::view::json
