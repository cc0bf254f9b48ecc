// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/replay_document.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "view/json.hpp"
#include "view/json_values.hpp"

namespace ttmem::serve {
namespace {

using view::json::Json;

constexpr std::size_t kParts = 600;                // of the curve: a point for each few pixels
constexpr ledger::TimeNs kLookNs = 1'000'000'000;  // as often as the history keeps a figure
constexpr std::size_t kMostLooks = 3'600;

Json mark_json(const collect::Mark& mark) {
  if (mark.kind == collect::Mark::Kind::kFailure) {
    return {
        {"kind", "failure"}, {"time_ns", mark.time}, {"pid", mark.pid}, {"number", mark.number}};
  }
  return {{"kind", "peak"},
          {"time_ns", mark.time},
          {"space", mark.space ? Json(name(*mark.space)) : Json(nullptr)},
          {"bytes", mark.bytes}};
}

Json curve_json(const collect::Outline& outline) {
  Json spaces = Json::object();
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    Json& values = spaces[std::string(name(space))] = Json::array();
    for (const collect::Outline::Bytes& part : outline.parts) {
      values.push_back(part[static_cast<std::size_t>(space)]);
    }
  }
  return {
      {"step_ns", (outline.last - outline.first) / std::max<std::size_t>(1, outline.parts.size())},
      {"most", std::move(spaces)}};
}

}  // namespace

std::string recording_json(const collect::Collector& collector, const collect::Outline* outline) {
  Json document = view::json::head("recording", collector.snapshot());
  const collect::Replay* replay = collector.replay();
  const std::string& path = replay->file().path();
  std::uint64_t missed = 0;
  for (const auto& block : replay->file().blocks()) missed += block.header.missed;
  document["file"] = path.substr(path.rfind('/') + 1);
  document["first_ns"] = replay->first();
  document["last_ns"] = replay->last();
  document["sampled_ns"] = replay->sampled_at();
  document["ended"] = replay->file().is_ended();
  document["bytes"] = replay->file().bytes();
  document["missed"] = missed;
  document["problems"] = replay->problems();
  document["marks"] = nullptr;
  document["curve"] = nullptr;
  if (outline != nullptr) {
    document["marks"] = Json::array();
    for (const collect::Mark& mark : outline->marks) document["marks"].push_back(mark_json(mark));
    document["curve"] = curve_json(*outline);
  }
  return view::json::text(document, view::JsonLayout::kCompact);
}

ReplayStudy::ReplayStudy(std::string file) : file_(std::move(file)) {
  // Signals are for the loop.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ReplayStudy::~ReplayStudy() {
  stop_ = true;
  thread_.join();
}

const collect::Outline* ReplayStudy::outline() const { return outlined_ ? &outline_ : nullptr; }
history::History* ReplayStudy::history() const { return filled_ ? history_.get() : nullptr; }

void ReplayStudy::run() {
  auto outline = collect::outline_of(file_, kParts, [this](double) { return !stop_; });
  if (!outline) return;
  outline_ = std::move(*outline);
  outlined_ = true;
  fill_history();
}

// As if a daemon had looked then.
void ReplayStudy::fill_history() {
  auto collector = collect::Collector::open_recording(file_, {.totals_only = true});
  if (!collector) return;
  collect::Replay& replay = *collector->replay();
  auto opened = history::History::open_or_memory("", {}, replay.first());
  const ledger::TimeNs length = replay.last() - replay.first();
  const ledger::TimeNs step = std::max(kLookNs, length / kMostLooks);
  for (ledger::TimeNs time = replay.first();; time += step) {
    if (stop_) return;
    replay.seek(std::min(time, replay.last()));
    collector->refresh();
    opened.history->record(collector->snapshot(), replay.at());
    opened.history->tick(replay.at());
    if (time >= replay.last()) break;
  }
  history_ = std::move(opened.history);
  filled_ = true;
}

}  // namespace ttmem::serve
