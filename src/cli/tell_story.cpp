// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/tell_story.hpp"

#include <algorithm>
#include <ctime>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cli/read_progress.hpp"
#include "cli/reading_options.hpp"
#include "collect/collector.hpp"
#include "collect/replay.hpp"
#include "view/text_editor.hpp"

namespace ttmem::cli {
namespace {

constexpr ledger::TimeNs kForever = ~ledger::TimeNs{0};

class Telling {
 public:
  Telling(const StoryQuestion& question, collect::Collector& collector, exports::Scribe& scribe,
          const exports::Beginning& beginning, ledger::TimeNs until)
      : collector_(collector),
        device_(question.device),
        editor_(question.redact),
        teller_(scribe, beginning),
        until_(until) {}

  // Tells what came since the last refresh.
  void tell_new() {
    std::vector<ledger::EventView> events = collector_.take_events();
    if (collector_.replay() == nullptr) exports::place_ends(events, collector_.snapshot());
    std::erase_if(events, [&](const ledger::EventView& event) { return !is_selected(event); });
    for (ledger::EventView& event : events) {
      if (event.kind == ledger::EventKind::kFailed) add_origin(event);
      editor_.edit(event);
    }
    teller_.tell(
        events,
        [&](const std::function<void(const ledger::HoldingView&)>& visit) {
          collector_.holdings([&](const ledger::HoldingView& holding) {
            if (!is_on_device(holding.devices)) return;
            ledger::HoldingView edited = holding;
            editor_.edit(edited);
            visit(edited);
          });
        },
        until_);
  }

  void end() {
    ledger::Snapshot last = collector_.snapshot();
    editor_.edit(last);
    exports::Ending ending{&last, last.time, {}};
    for (const ledger::DeviceView& device : last.devices) {
      if (!is_on_device({device.id})) continue;
      for (const ledger::Space space : ledger::kDeviceSpaces) {
        for (ledger::LiveSpace& live : collector_.live_spaces(device.id, space)) {
          editor_.edit(live.process);
          editor_.edit(live.picture);
          ending.spaces.push_back({device.id, std::move(live)});
        }
      }
    }
    teller_.end(ending);
  }

 private:
  // Where it failed is known from the process, and not from the event.
  void add_origin(ledger::EventView& event) const {
    const ledger::ProcessView* process = collector_.snapshot().process(event.process->key);
    if (process == nullptr) return;
    for (const ledger::FailureView& failure : process->failures) {
      if (failure.number != event.failure) continue;
      event.operation = failure.operation;
      event.line = failure.line;
      event.region = failure.region;
      event.stack = failure.stack;
    }
  }
  bool is_selected(const ledger::EventView& event) const {
    std::vector<std::uint32_t> ids;
    for (const ledger::EventDevice& device : event.devices) ids.push_back(device.id);
    return ids.empty() || is_on_device(ids);
  }
  // Whether the device that was asked for is among them; all are if none was.
  bool is_on_device(const std::vector<std::uint32_t>& ids) const {
    return !device_ || std::ranges::find(ids, *device_) != ids.end();
  }

  collect::Collector& collector_;
  std::optional<std::uint32_t> device_;  // of the document; empty = all
  view::TextEditor editor_;
  exports::Storyteller teller_;
  ledger::TimeNs until_;
};

// When the failure that was asked for happened; all of it if none was.
Result<ledger::TimeNs> end_of_story(const StoryQuestion& question,
                                    const collect::Collector& collector) {
  if (question.failure == 0) return kForever;
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    for (const ledger::FailureView& failure : process.failures) {
      if (failure.number == question.failure && question.selection.has(process, failure)) {
        return failure.time;
      }
    }
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("no process has kept a failure {}; `ttmem status` lists those there are",
                           question.failure)};
}

std::uint64_t monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

Result<bool> tell_present(StoryQuestion& question, collect::Collector& collector,
                          exports::Scribe& scribe) {
  const auto until = end_of_story(question, collector);
  if (!until) return until.error();
  // The beginning is the first event that is still known; the clocks went evenly since.
  const ledger::TimeNs now = collector.snapshot().time;
  ledger::TimeNs first = now;
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    if (process.started != 0) first = std::min(first, process.started);
  }
  const std::uint64_t uptime = monotonic_now();
  const exports::Beginning beginning{first, uptime - std::min(now - first, uptime)};
  Telling telling(question, collector, scribe, beginning, *until);
  telling.tell_new();
  telling.end();
  return true;
}

double part_read(const collect::Replay& replay, ledger::TimeNs end) {
  const double whole = static_cast<double>(std::max<ledger::TimeNs>(end - replay.first(), 1));
  return static_cast<double>(replay.at() - replay.first()) / whole;
}

// `at_end` stands at the moment that was asked for.
Result<bool> tell_recorded(StoryQuestion& question, const collect::Collector& at_end,
                           const collect::Options& collecting, exports::Scribe& scribe,
                           const std::function<bool()>& give_up) {
  const auto failed = end_of_story(question, at_end);
  if (!failed) return failed.error();
  const ledger::TimeNs until = std::min(at_end.replay()->at(), *failed);
  auto opened = collect::Collector::open_recording(question.past.file, collecting);
  if (!opened) return opened.error();
  collect::Collector& collector = *opened;
  collect::Replay& replay = *collector.replay();
  ReadProgress progress;
  replay.seek(replay.first());
  collector.refresh();
  Telling telling(question, collector, scribe, {replay.now().wall_ns, replay.now().monotonic_ns},
                  until);
  telling.tell_new();
  while (replay.at() < until && !give_up() && replay.step()) {
    collector.refresh();
    telling.tell_new();
    progress.show(part_read(replay, until));
  }
  replay.seek(until);
  collector.refresh();
  telling.end();
  return true;
}

}  // namespace

Result<bool> tell_story(StoryQuestion& question, exports::Scribe& scribe,
                        const std::function<bool()>& give_up) {
  collect::Options collecting;
  collecting.process = question.selection.process();
  collecting.events = true;
  auto collector = open_collector(collecting, question.past);
  if (!collector) return collector.error();
  if (const std::string why = find_selected(question.selection, collector->snapshot());
      !why.empty()) {
    return Error{ErrorCode::kNotFound, why};
  }
  if (const auto found = question.selection.find(collector->snapshot()); found && *found) {
    question.device = (*found)->id;
  }
  return question.past ? tell_recorded(question, *collector, collecting, scribe, give_up)
                       : tell_present(question, *collector, scribe);
}

}  // namespace ttmem::cli
