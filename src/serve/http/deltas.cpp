// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/deltas.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "view/json.hpp"
#include "view/json_values.hpp"

namespace ttmem::serve::http {

using view::JsonLayout;
using view::json::Json;
using view::json::json_of;
using view::json::ProcessDetail;

namespace {

constexpr std::size_t kMostKept = 4096;  // messages for readers that come back
constexpr std::size_t kMostKeptBytes = 4 * 1024 * 1024;
constexpr std::size_t kMostEvents = 1000;            // in one step; of more, the newest
constexpr std::size_t kMostMissedBytes = 64 * 1024;  // who missed more gets the snapshot

Json change(const Json& before, const Json& after);

// Entries of a list have a name: only those that changed are told, each with its `id`.
Json list_change(const Json& before, const Json& after) {
  Json changed = Json::array();
  for (const Json& each : after) {
    const auto old = std::ranges::find_if(
        before, [&](const Json& other) { return other.at("id") == each.at("id"); });
    if (old == before.end()) {
      changed.push_back(each);
      continue;
    }
    Json fields = change(*old, each);
    if (fields.empty()) continue;
    Json entry = {{"id", each.at("id")}};
    entry.update(fields);
    changed.push_back(std::move(entry));
  }
  return changed;
}

bool is_device_list(const std::string& name, const Json& before, const Json& after) {
  return name == "devices" && after.is_array() && before.is_array() &&
         before.size() == after.size() &&
         std::ranges::equal(before, after, [](const Json& a, const Json& b) {
           return a.is_object() && b.is_object() && a.contains("id") && a["id"] == b["id"];
         });
}

// The fields of an object that differ, and of the objects in it; {} if none does.
Json change(const Json& before, const Json& after) {
  Json changed = Json::object();
  for (const auto& [name, value] : after.items()) {
    const auto old = before.find(name);
    if (old != before.end() && *old == value) continue;
    const bool same_kind = old != before.end() && value.type() == old->type();
    if (same_kind && is_device_list(name, *old, value)) {
      changed[name] = list_change(*old, value);
    } else if (same_kind && value.is_object() && value.size() == old->size()) {
      changed[name] = change(*old, value);
    } else {
      changed[name] = value;
    }
  }
  return changed;
}

Json key_of(const ledger::DeviceView& view) { return {{"id", view.id}}; }
Json key_of(const ledger::ProcessView& view) {
  return {{"pid", view.pid},
          {"start", view.start},
          {"segment", view::json::text_or_null(view.segment)}};
}
std::uint64_t number_of(const ledger::DeviceView& view) { return view.id; }
std::uint64_t number_of(const ledger::ProcessView& view) { return view.key; }

struct Entry {
  std::uint64_t changed = 0;
  Json key, value;
};
using Entries = std::map<std::uint64_t, Entry>;

// Brings `told` up to date; what differed is in `changed`, what is gone in `gone`.
template <typename View>
void compare(const std::vector<LiveSnapshot::Part<View>>& parts, ProcessDetail detail,
             Entries& told, Json& changed, Json& gone) {
  Entries now;
  for (const auto& part : parts) {
    const std::uint64_t number = number_of(part.view);
    auto old = told.find(number);
    if (old != told.end() && old->second.changed == part.changed) {
      now.insert(told.extract(old));
      continue;
    }
    Entry entry{part.changed, key_of(part.view), json_of(part.view, detail)};
    if (old == told.end() || old->second.key != entry.key) {
      changed.push_back(entry.value);
    } else {
      Json fields = entry.key;
      fields.update(change(old->second.value, entry.value));
      if (fields.size() > entry.key.size()) changed.push_back(std::move(fields));
      told.erase(old);
    }
    now[number] = std::move(entry);
  }
  for (const auto& [number, entry] : told) gone.push_back(entry.key);
  told = std::move(now);
}

}  // namespace

struct Deltas::Told {
  Told(const LiveSnapshot& live, ProcessDetail detail) {
    Json ignored = Json::array();
    compare(live.devices(), detail, devices, ignored, ignored);
    compare(live.processes(), detail, processes, ignored, ignored);
    take_lists(live.frame());
  }
  bool take_lists(const ledger::Snapshot& frame) {
    if (unreadable == frame.unreadable && left_behind == frame.left_behind) return false;
    unreadable = frame.unreadable;
    left_behind = frame.left_behind;
    return true;
  }
  Entries devices, processes;
  std::vector<std::string> unreadable, left_behind;
};

Deltas::Deltas(std::string instance, ProcessDetail detail)
    : instance_(std::move(instance)), detail_(detail) {}
Deltas::~Deltas() = default;

void Deltas::rest() {
  if (told_) ++number_;  // a number that nobody saw: who comes back was away
  told_.reset();
  events_since_.reset();
  messages_.clear();
  kept_bytes_ = 0;
}

std::string Deltas::add(std::string_view event, const std::string& data) {
  ++number_;
  std::string text =
      fmt::format("id: {}-{}\nevent: {}\ndata: {}\n\n", instance_, number_, event, data);
  kept_bytes_ += text.size();
  messages_.push_back({number_, event == "event", std::make_shared<const std::string>(text)});
  while (messages_.size() > kMostKept || kept_bytes_ > kMostKeptBytes) {
    kept_bytes_ -= messages_.front().text->size();
    messages_.pop_front();
  }
  return text;
}

std::string Deltas::delta(const LiveSnapshot& live) {
  Json devices = Json::array(), processes = Json::array();
  Json gone_devices = Json::array(), gone_processes = Json::array();
  compare(live.devices(), detail_, told_->devices, devices, gone_devices);
  compare(live.processes(), detail_, told_->processes, processes, gone_processes);
  const bool lists = told_->take_lists(live.frame());
  if (devices.empty() && processes.empty() && gone_devices.empty() && gone_processes.empty() &&
      !lists) {
    return "";
  }
  Json document = view::json::head("delta", live.frame());
  document["devices"] = std::move(devices);
  document["processes"] = std::move(processes);
  document["gone_devices"] = std::move(gone_devices);
  document["gone_processes"] = std::move(gone_processes);
  document["unreadable"] = told_->unreadable;
  document["left_behind"] = told_->left_behind;
  return add("delta", view::json::text(document, JsonLayout::kCompact));
}

std::string Deltas::add_events(const std::vector<ledger::EventView>& events) {
  const std::size_t skipped = events.size() > kMostEvents ? events.size() - kMostEvents : 0;
  std::string text;
  if (skipped > 0) {
    ledger::EventView gap;
    gap.kind = ledger::EventKind::kGap;
    gap.time = events[skipped].time;
    gap.missed = skipped;
    text += add("event", view::event_json(gap));
  }
  for (std::size_t i = skipped; i < events.size(); ++i) {
    text += add("event", view::event_json(events[i]));
  }
  return text;
}

Deltas::Step Deltas::step(const LiveSnapshot& live, const std::vector<ledger::EventView>& events,
                          bool events_wanted) {
  if (!told_) return {};
  const auto shared = [](std::string text) {
    return text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text));
  };
  Step step{.changes = shared(delta(live)), .events = nullptr};
  if (!events_wanted) {
    events_since_.reset();
  } else {
    step.events = shared(add_events(events));
  }
  return step;
}

FirstEvents Deltas::first(LiveSnapshot& live, std::string_view last_event_id, bool wants_events) {
  if (!told_) told_ = std::make_unique<Told>(live, detail_);
  if (auto texts = missed(last_event_id, wants_events)) {
    return {.start = "retry: 1000\n\n", .rest = std::move(*texts)};
  }
  if (wants_events && !events_since_) events_since_ = number_;
  LiveSnapshot::Text document = live.document(detail_);  // ends its line
  static const SharedText kEnd = std::make_shared<const std::string>("\n");
  return {.start = fmt::format("retry: 1000\nid: {}-{}\nevent: snapshot\ndata: {}", instance_,
                               number_, document.start),
          .rest = {std::move(document.rest), kEnd}};
}

// Nothing if that message, or one after it, is not known any more.
std::optional<std::vector<SharedText>> Deltas::missed(std::string_view last_event_id,
                                                      bool wants_events) const {
  const std::string start = instance_ + "-";
  if (!last_event_id.starts_with(start)) return std::nullopt;
  last_event_id.remove_prefix(start.size());
  std::uint64_t last = 0;
  const auto [end, error] =
      std::from_chars(last_event_id.data(), last_event_id.data() + last_event_id.size(), last);
  const std::uint64_t oldest = messages_.empty() ? number_ + 1 : messages_.front().number;
  if (error != std::errc() || end != last_event_id.data() + last_event_id.size() ||
      last > number_ || last + 1 < oldest) {
    return std::nullopt;
  }
  if (wants_events && (!events_since_ || last < *events_since_)) return std::nullopt;
  std::vector<SharedText> texts;
  std::size_t bytes = 0;
  for (const Message& message : messages_) {
    if (message.number <= last || (message.is_event && !wants_events)) continue;
    bytes += message.text->size();
    if (bytes > kMostMissedBytes) return std::nullopt;
    texts.push_back(message.text);
  }
  return texts;
}

}  // namespace ttmem::serve::http
