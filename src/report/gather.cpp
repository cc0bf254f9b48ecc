// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "collect/replay.hpp"
#include "export/story.hpp"
#include "report/moments.hpp"
#include "report/report.hpp"
#include "view/selection.hpp"
#include "view/text_editor.hpp"

namespace ttmem::report {
namespace {

using collect::Collector;
using collect::Mark;
using ledger::Space;
using ledger::TimeNs;

constexpr std::size_t kParts = 600;        // of the curves: a point for each few pixels
constexpr std::size_t kMostLooks = 300;    // at the programs of a recording
constexpr TimeNs kLookNs = 1'000'000'000;  // as often as launches are counted
constexpr double kOutlineShare = 0.6;      // of the time that it takes

// Programs come and go: every one that was seen, as it was seen last.
class Programs {
 public:
  void look(const Collector& collector) {
    for (ledger::ProgramView& each : collector.programs(true)) {
      const auto key = std::tuple(each.process->key, each.id, each.devices);
      programs_.insert_or_assign(key, std::move(each));
    }
  }
  std::vector<ledger::ProgramView> take() {
    std::vector<ledger::ProgramView> all;
    for (auto& [key, program] : programs_) all.push_back(std::move(program));
    std::ranges::stable_sort(all, std::greater(), [](const ledger::ProgramView& each) {
      return std::tuple(each.l1_allocated, each.dispatches, each.footprint);
    });
    return all;
  }

 private:
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::vector<std::uint32_t>>,
           ledger::ProgramView>
      programs_;
};

// The bytes of each space over time, of what the rings of the present still know.
class CurveScribe : public exports::Scribe {
 public:
  void level(const exports::Level& level) override {
    std::uint64_t& now = levels_[{level.process->key, level.device, level.space}];
    changes_.push_back({level.time, level.space, level.taken - now});  // modulo 2^64
    now = level.taken;
  }

  collect::Outline outline(TimeNs last) {
    std::ranges::stable_sort(changes_, {}, &Change::time);
    collect::Outline outline;
    outline.last = last;
    outline.first = changes_.empty() ? last : std::min(last, changes_.front().time);
    outline.parts.resize(kParts);
    const TimeNs step = std::max<TimeNs>((last - outline.first) / kParts, 1);
    collect::Outline::Bytes now{};
    std::size_t next = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      const TimeNs end = outline.first + (part + 1) * step;
      collect::Outline::Bytes most = now;
      for (; next < changes_.size() && (changes_[next].time < end || part + 1 == kParts); ++next) {
        const auto space = static_cast<std::size_t>(changes_[next].space);
        now[space] += changes_[next].added;
        most[space] = std::max(most[space], now[space]);
      }
      outline.parts[part] = most;
    }
    return outline;
  }

 private:
  struct Change {
    TimeNs time;
    Space space;
    std::uint64_t added;
  };
  std::map<std::tuple<std::uint64_t, std::uint32_t, Space>, std::uint64_t> levels_;
  std::vector<Change> changes_;
};

collect::Outline remembered(Collector& collector) {
  std::vector<ledger::EventView> events = collector.take_events();
  exports::place_ends(events, collector.snapshot());
  const bool all_ended =
      std::ranges::none_of(collector.snapshot().processes, &ledger::ProcessView::alive);
  const TimeNs now = all_ended && !events.empty() ? events.back().time : collector.snapshot().time;
  CurveScribe curve;
  exports::Storyteller teller(curve, {events.empty() ? now : events.front().time, 0});
  teller.tell(events, [&](const auto& visit) { collector.holdings(visit); });
  collect::Outline outline = curve.outline(now);
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    for (const ledger::FailureView& failure : process.failures) {
      if (failure.time < outline.first) continue;
      outline.marks.push_back({.kind = Mark::Kind::kFailure,
                               .time = failure.time,
                               .space = {},
                               .bytes = 0,
                               .pid = process.pid,
                               .number = failure.number});
    }
  }
  return outline;
}

const Mark* peak_of(const collect::Outline& outline, std::optional<Space> space) {
  for (const Mark& mark : outline.marks) {
    if (mark.kind == Mark::Kind::kPeak && mark.space == space) return &mark;
  }
  return nullptr;
}

// The moments that are worth a look, in the order of time: time only goes on.
std::set<TimeNs> looks_at(const collect::Outline& outline) {
  std::set<TimeNs> times = {outline.first, outline.last};
  for (const Mark& mark : outline.marks)
    times.insert(std::clamp(mark.time, outline.first, outline.last));
  const TimeNs step = std::max(kLookNs, (outline.last - outline.first) / kMostLooks);
  for (TimeNs time = outline.first; time < outline.last; time += step) times.insert(time);
  return times;
}

Result<Report> of_recording(const Question& question, view::TextEditor& editor) {
  auto opened = Collector::open_recording(question.file, {.launches = true});
  if (!opened) return opened.error();
  Collector& collector = *opened;
  collect::Replay& replay = *collector.replay();
  const auto tell = [&](double part) {
    if (question.progress) question.progress(part);
    return true;
  };
  auto outline =
      collect::outline_of(replay, kParts, [&](double part) { return tell(kOutlineShare * part); });
  if (!outline) return outline.error();
  Report report;
  report.recorded = true;
  report.of = question.file.substr(question.file.rfind('/') + 1);
  report.ended = replay.file().is_ended();
  for (const auto& block : replay.file().blocks()) report.missed += block.header.missed;
  report.problems = replay.problems();
  report.outline = std::move(*outline);

  const Mark* all = peak_of(report.outline, {});
  const Mark* l1 = peak_of(report.outline, Space::kL1);
  const TimeNs core_at = l1 != nullptr ? l1->time : all != nullptr ? all->time : replay.last();
  std::optional<std::int64_t> least;  // headroom that was seen so far
  Programs programs;
  const std::set<TimeNs> times = looks_at(report.outline);
  std::size_t looked = 0;
  for (const TimeNs time : times) {
    replay.seek(time);
    collector.refresh();
    programs.look(collector);
    if (all != nullptr && time == all->time) report.devices = collector.snapshot().devices;
    for (const Mark& mark : report.outline.marks) {
      if (mark.kind != Mark::Kind::kPeak || !mark.space || mark.time != time) continue;
      report.peaks.push_back(held_at(collector, *mark.space));
    }
    const auto headroom = least_headroom(collector.snapshot());
    if (headroom ? !least || *headroom < *least : !least && time == core_at) {
      least = headroom;
      report.l1 = tightest_core(collector);
    }
    tell(kOutlineShare +
         (1 - kOutlineShare) * static_cast<double>(++looked) / static_cast<double>(times.size()));
  }
  report.end = collector.snapshot();
  if (report.devices.empty()) report.devices = report.end.devices;
  report.programs = programs.take();
  explain_all(collector, report, editor);
  return report;
}

Result<Report> of_present(const Question& question, view::TextEditor& editor) {
  Collector collector({.process = question.process, .events = true, .launches = true});
  collector.refresh();
  Report report;
  report.of = question.process ? "process " + question.process->text() : "all processes";
  report.end = collector.snapshot();
  if (report.end.processes.empty()) {
    return Error{ErrorCode::kNotFound, question.process
                                           ? view::not_tracked_text(*question.process)
                                           : "no process is tracked: start one with `ttmem run`"};
  }
  report.outline = remembered(collector);
  report.devices = report.end.devices;
  for (const Space space : ledger::kDeviceSpaces) {
    SpacePeak peak = held_at_own_peaks(collector, space, question.process.has_value());
    if (peak.bytes > 0) report.peaks.push_back(std::move(peak));
  }
  report.l1 = tightest_core(collector);
  Programs programs;
  programs.look(collector);
  report.programs = programs.take();
  explain_all(collector, report, editor);
  return report;
}

}  // namespace

Result<Report> gather(const Question& question) {
  view::TextEditor editor(question.redact);
  auto report =
      question.file.empty() ? of_present(question, editor) : of_recording(question, editor);
  if (!report) return report;
  std::ranges::stable_sort(report->peaks, {}, &SpacePeak::space);
  edit(*report, editor);
  report->summary = summarize(*report);
  shorten(*report);
  return report;
}

}  // namespace ttmem::report
