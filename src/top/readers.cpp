// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a source can read: the present, and a recording.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "collect/replay_outline.hpp"
#include "explain/leak_follower.hpp"
#include "top/history.hpp"
#include "top/source.hpp"
#include "top/timeline.hpp"
#include "view/text.hpp"

namespace ttmem::top {
namespace {

// The last events as lines; what is older than the last kEventsKept is never formatted.
class EventLines {
 public:
  void add(std::vector<ledger::EventView> events) {
    const std::size_t skip = events.size() > kEventsKept ? events.size() - kEventsKept : 0;
    for (std::size_t i = skip; i < events.size(); ++i) {
      std::string text = view::event_text(events[i], {});
      if (text.ends_with('\n')) text.pop_back();
      lines_.push_back(std::make_shared<EventLine>(EventLine{events[i].kind, std::move(text)}));
    }
    while (lines_.size() > kEventsKept) lines_.pop_front();
  }
  void copy_to(Frame& frame) const { frame.events.assign(lines_.begin(), lines_.end()); }

 private:
  std::deque<std::shared_ptr<const EventLine>> lines_;
};

// What grows from step to step. Steps are found in events, which cost: a host on which more happens
// than a screen may spend on is not followed any more.
class LeakMarks {
 public:
  using Clock = std::chrono::steady_clock;

  bool is_on() const { return on_; }

  // `first`: what the rings still held when the collector was made.
  void follow(const collect::Collector& collector, const std::vector<ledger::EventView>& events,
              bool first) {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> passed = now - std::exchange(last_, now);
    if (!first &&
        static_cast<double>(events.size()) > kMostEvents * std::max(passed.count(), 0.1)) {
      on_ = false;
      follower_ = {};
      return;
    }
    follower_.take(events);
    if (now < due_) return;
    due_ = now + kLookEvery;
    follower_.forget_the_dead(collector.snapshot());
    if (!follower_.is_due(collector.snapshot())) return;
    follower_.look(collector.snapshot(), [&](std::uint32_t device, ledger::Space space) {
      return collector.live_spaces(device, space);
    });
  }
  explain::LeakReport report() const { return follower_.report(); }

 private:
  static constexpr double kMostEvents = 5000;  // a second
  static constexpr auto kLookEvery = std::chrono::seconds(1);

  explain::LeakFollower follower_;
  Clock::time_point last_ = Clock::now(), due_;
  bool on_ = true;
};

class CollectorReader {
 public:
  CollectorReader(collect::Options options, Complete complete)
      : options_(std::move(options)), complete_(std::move(complete)) {}

  void read(const Request& request, Frame& frame) {
    const bool first = open(request);
    collector_->refresh();
    // A copy of very many processes costs as much as a look at them. What others complete changes
    // without a mark.
    if (collector_->changed() || !collector_->unreadable().empty()) ++state_;
    if (frame.state != state_) frame.snapshot = collector_->snapshot();
    frame.state = state_;
    frame.snapshot.time = collector_->snapshot().time;
    if (complete_) complete_(*collector_, frame.snapshot);
    take_events(first, frame);
    frame.events.clear();
    if (request.events) lines_.copy_to(frame);
    take_details(*collector_, request, frame);
    frame.ended_programs.clear();
    if (request.launches && frame.programs) {
      frame.ended_programs = ended_programs_.after(*frame.programs, frame.snapshot.time);
    }
  }

 private:
  // Whether there is a new collector, whose first events are those that the rings still hold.
  bool open(const Request& request) {
    const bool begins = request.events && !listed_;
    const bool rests = options_.events && !listed_ && !begins && !leaks_.is_on();
    if (collector_ && !begins && !rests) return false;
    listed_ = listed_ || request.events;
    options_.events = listed_ || leaks_.is_on();
    collector_.emplace(options_);
    return true;
  }
  void take_events(bool first, Frame& frame) {
    frame.leaks = {};
    if (!options_.events) return;
    std::vector<ledger::EventView> events = collector_->take_events();
    // A second collector tells again what the first one told.
    const bool again = first && followed_;
    if (leaks_.is_on() && !again) leaks_.follow(*collector_, events, first);
    followed_ = true;
    if (leaks_.is_on()) frame.leaks = leaks_.report();
    if (listed_) lines_.add(std::move(events));
  }

  collect::Options options_;
  Complete complete_;
  std::optional<collect::Collector> collector_;
  std::uint64_t state_ = 0;
  EventLines lines_;
  EndedPrograms ended_programs_;
  LeakMarks leaks_;
  bool listed_ = false;    // somebody looks at the events
  bool followed_ = false;  // the first events were taken
};

// What was held in all of a recording, as often as a chart has room for, or a little less.
std::vector<PastMoment> charts_of(const std::string& file, const std::atomic<bool>& stop) {
  constexpr std::size_t kMostLooks = 3'600;
  std::vector<PastMoment> charts;
  auto collector = collect::Collector::open_recording(file, {.totals_only = true});
  if (!collector) return charts;
  collect::Replay& replay = *collector->replay();
  const ledger::TimeNs step = std::max(kChartStepNs, (replay.last() - replay.first()) / kMostLooks);
  for (ledger::TimeNs time = replay.first(); time <= replay.last() && !stop; time += step) {
    replay.seek(time);
    collector->refresh();
    add_moments(collector->snapshot(), charts);
  }
  return charts;
}

// A recording. What takes a pass over all of it comes from a thread of its own, later.
class RecordingReader {
 public:
  RecordingReader(std::string file, collect::Options options, ledger::TimeNs first)
      : file_(std::move(file)), options_(std::move(options)), first_(first) {
    // Signals are for the thread that owns the terminal.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    study_ = std::thread([this] { study(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~RecordingReader() {
    stop_ = true;
    study_.join();
  }

  void read(const Request& request, Frame& frame) {
    if (!open(request.events)) return;
    collect::Replay& replay = *collector_->replay();
    const ledger::TimeNs at = request.at.value_or(first_);
    if (at < replay.at()) lines_ = {};
    replay.seek(at);
    collector_->refresh();
    frame.snapshot = collector_->snapshot();
    frame.state = 0;
    frame.recording = RecordingView{replay.first(), replay.last(), replay.at(), {}, {}};
    add_what_is_known(*frame.recording);
    if (options_.events) lines_.add(collector_->take_events());
    frame.events.clear();
    if (request.events) lines_.copy_to(frame);
    take_details(*collector_, request, frame);
  }

 private:
  bool open(bool events) {
    if (collector_ && (options_.events || !events)) return true;
    options_.events = events;
    auto opened = collect::Collector::open_recording(file_, options_);
    if (opened) collector_.emplace(std::move(*opened));
    return static_cast<bool>(opened);
  }
  void study() {
    auto outline = collect::outline_of(file_, kOutlineParts, [this](double) { return !stop_; });
    if (!outline) return;
    {
      const std::scoped_lock lock(mutex_);
      outline_ = std::make_shared<const collect::Outline>(std::move(*outline));
    }
    auto charts = charts_of(file_, stop_);
    const std::scoped_lock lock(mutex_);
    charts_ = std::make_shared<const std::vector<PastMoment>>(std::move(charts));
  }
  void add_what_is_known(RecordingView& view) {
    const std::scoped_lock lock(mutex_);
    view.outline = outline_;
    view.charts = charts_;
  }

  static constexpr std::size_t kOutlineParts = 1000;
  std::string file_;
  collect::Options options_;
  ledger::TimeNs first_;
  std::optional<collect::Collector> collector_;
  EventLines lines_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::shared_ptr<const collect::Outline> outline_;
  std::shared_ptr<const std::vector<PastMoment>> charts_;
  std::thread study_;
};

}  // namespace

Read recording_reader(const std::string& file, const collect::Options& options,
                      ledger::TimeNs first) {
  auto reader = std::make_shared<RecordingReader>(file, options, first);
  return [reader](const Request& request, Frame& frame) { reader->read(request, frame); };
}

Read collector_reader(const collect::Options& options, Complete complete) {
  auto reader = std::make_shared<CollectorReader>(options, std::move(complete));
  return [reader](const Request& request, Frame& frame) { reader->read(request, frame); };
}

}  // namespace ttmem::top
