// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/live_snapshot.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "view/answer_shares.hpp"
#include "view/json.hpp"
#include "view/json_values.hpp"

namespace ttmem::serve::http {
namespace {

using view::JsonLayout;
using view::json::Json;
using view::json::json_of;
using view::json::ProcessDetail;

std::uint64_t key(const ledger::DeviceView& view) { return view.id; }
std::uint64_t key(const ledger::ProcessView& view) { return view.key; }

// Keeps what is the same, in the order of the new views. True if anything changed.
template <typename View>
bool merge(const std::vector<View>& views, std::vector<LiveSnapshot::Part<View>>& parts,
           std::uint64_t generation) {
  bool changed = views.size() != parts.size();
  std::vector<LiveSnapshot::Part<View>> old = std::move(parts);
  parts.clear();
  parts.reserve(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    auto found = i < old.size() && key(old[i].view) == key(views[i])
                     ? old.begin() + static_cast<std::ptrdiff_t>(i)
                     : std::ranges::find_if(
                           old, [&](const auto& part) { return key(part.view) == key(views[i]); });
    changed = changed || found != old.begin() + static_cast<std::ptrdiff_t>(i);
    if (found != old.end() && found->view == views[i]) {
      parts.push_back(std::move(*found));
      parts.back().view = views[i];
    } else {
      changed = true;
      parts.push_back({views[i], generation, ""});
    }
  }
  return changed;
}

// Of the processes of all users together, with what they hold on each device.
constexpr std::size_t kMostProcessBytes = 64u << 20;

// What of the parts is written.
struct Writing {
  ProcessDetail detail;
  view::AnswerShares shares{kMostProcessBytes};  // beyond these a process is told in brief
};

bool is_brief(const ledger::DeviceView&, std::size_t, Writing&) { return false; }
bool is_brief(const ledger::ProcessView& view, std::size_t bytes, Writing& writing) {
  return writing.detail == ProcessDetail::kBrief || !writing.shares.take(view.key, bytes);
}

// The full text of a part is kept for the next who asks.
template <typename View>
void append(std::vector<LiveSnapshot::Part<View>>& parts, std::string& text, Writing& writing) {
  const auto full = [&](auto& part) -> const std::string& {
    if (part.text.empty()) part.text = view::json::text(json_of(part.view), JsonLayout::kCompact);
    return part.text;
  };
  const bool all_brief =
      writing.detail == ProcessDetail::kBrief && std::is_same_v<View, ledger::ProcessView>;
  text += '[';
  for (auto& part : parts) {
    if (text.back() != '[') text += ',';
    if (!is_brief(part.view, all_brief ? 0 : full(part).size(), writing)) {
      text += part.text;
      continue;
    }
    text += view::json::text(json_of(part.view, ProcessDetail::kBrief), JsonLayout::kCompact);
    part.text.clear();
    part.text.shrink_to_fit();
  }
  text += ']';
}

void append(const std::vector<std::string>& texts, std::string& text, Writing& /*any*/) {
  text += view::json::text(Json(texts), JsonLayout::kCompact);
}

Writing writing_of(const std::vector<LiveSnapshot::Process>& processes, ProcessDetail detail) {
  Writing writing{detail};
  for (const LiveSnapshot::Process& part : processes) writing.shares.add(part.view);
  return writing;
}

void say_what_is_brief(const Writing& writing, ledger::Snapshot& rest) {
  if (writing.shares.left_out() == 0) return;
  rest.unreadable.push_back(
      fmt::format("of {} processes this document does not tell what they hold on each device: "
                  "it would be more than their owners' share of an answer",
                  writing.shares.left_out()));
}

std::string opened_head(const char* document, const ledger::Snapshot& frame) {
  std::string text = view::json::text(view::json::head(document, frame), JsonLayout::kCompact);
  text.pop_back();
  return text;
}

}  // namespace

bool LiveSnapshot::take(const ledger::Snapshot& snapshot) {
  const std::uint64_t next = generation_ + 1;
  bool changed = generation_ == 0;
  changed |= merge(snapshot.devices, devices_, next);
  changed |= merge(snapshot.processes, processes_, next);
  changed |= frame_.unreadable != snapshot.unreadable ||
             frame_.directories != snapshot.directories ||
             frame_.left_behind != snapshot.left_behind;
  frame_.host = snapshot.host;
  frame_.boot_id = snapshot.boot_id;
  frame_.time = snapshot.time;
  if (!changed) return false;
  frame_.unreadable = snapshot.unreadable;
  frame_.directories = snapshot.directories;
  frame_.left_behind = snapshot.left_behind;
  generation_ = next;
  rest_.reset();
  brief_rest_.reset();
  processes_rest_.reset();
  return true;
}

LiveSnapshot::Text LiveSnapshot::document(ProcessDetail detail) {
  auto& kept = detail == ProcessDetail::kBrief ? brief_rest_ : rest_;
  if (kept) return {opened_head("snapshot", frame_), kept};
  std::string text;
  Writing writing = writing_of(processes_, detail);
  ledger::Snapshot rest = frame_;
  const auto add = [&](const std::string& name, auto& list) {
    if (name == "unreadable") say_what_is_brief(writing, rest);
    text += ",\"" + name + "\":";
    append(list, text, writing);
  };
  view::json::snapshot_fields(devices_, processes_, rest, add);
  kept = std::make_shared<const std::string>(std::move(text) + "}\n");
  return {opened_head("snapshot", frame_), kept};
}

LiveSnapshot::Text LiveSnapshot::processes_document() {
  if (!processes_rest_) {
    Writing writing = writing_of(processes_, ProcessDetail::kFull);
    std::string text = ",\"processes\":";
    append(processes_, text, writing);
    text += fmt::format(",\"left_out\":{}", writing.shares.left_out());
    processes_rest_ = std::make_shared<const std::string>(std::move(text) + "}\n");
  }
  return {opened_head("processes", frame_), processes_rest_};
}

std::string LiveSnapshot::device_document(std::uint32_t id) const {
  const auto found =
      std::ranges::find(devices_, id, [](const Device& part) { return part.view.id; });
  if (found == devices_.end()) return "";
  Json document = view::json::head("device", frame_);
  document["device"] = json_of(found->view);
  document["processes"] = Json::array();
  for (const Process& part : processes_) {
    ledger::ProcessView process = part.view;
    std::erase_if(process.devices, [&](const auto& device) { return device.id != id; });
    if (!process.devices.empty()) document["processes"].push_back(json_of(process));
  }
  return view::json::text(document, JsonLayout::kCompact);
}

}  // namespace ttmem::serve::http
