// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/live_snapshot.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

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

// The full text of a part is kept for the next who asks.
template <typename View>
void append(std::vector<LiveSnapshot::Part<View>>& parts, std::string& text, ProcessDetail detail) {
  const bool brief = detail == ProcessDetail::kBrief && std::is_same_v<View, ledger::ProcessView>;
  text += '[';
  for (auto& part : parts) {
    if (text.back() != '[') text += ',';
    if (brief) {
      text += view::json::text(json_of(part.view, detail), JsonLayout::kCompact);
      continue;
    }
    if (part.text.empty()) {
      part.text = view::json::text(json_of(part.view), JsonLayout::kCompact);
    }
    text += part.text;
  }
  text += ']';
}

void append(const std::vector<std::string>& texts, std::string& text, ProcessDetail /*any*/) {
  text += view::json::text(Json(texts), JsonLayout::kCompact);
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
  const auto add = [&](const char* name, auto& list) {
    text += std::string(",\"") + name + "\":";
    append(list, text, detail);
  };
  view::json::snapshot_fields(devices_, processes_, frame_, add);
  kept = std::make_shared<const std::string>(std::move(text) + "}\n");
  return {opened_head("snapshot", frame_), kept};
}

LiveSnapshot::Text LiveSnapshot::processes_document() {
  if (!processes_rest_) {
    std::string text = ",\"processes\":";
    append(processes_, text, ProcessDetail::kFull);
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
