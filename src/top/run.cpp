// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/run.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "top/controls.hpp"
#include "top/history.hpp"
#include "top/input.hpp"
#include "top/list_rows.hpp"
#include "top/source.hpp"
#include "top/terminal.hpp"
#include "top/time_bar.hpp"
#include "top/views.hpp"

namespace ttmem::top {
namespace {

constexpr int kEscapeMs = 40;      // after which a lone Escape is the key
constexpr int kFirstMs = 50;       // the first picture waits so long for data
constexpr int kIdleMs = 1000;      // how often the age of the data is looked at
constexpr int kPlayMs = 100;       // between two moments of a recording that plays
constexpr int kMostLooks = 150;    // of one picture, until all of a recording is known
constexpr double kOnceGapS = 0.2;  // between the two reads of one picture

Read reader_of(const RunOptions& options) {
  if (options.fleet) return fleet_reader(options.fleet->engine, options.fleet->question);
  if (!options.recorded) return collector_reader(options.collecting, options.complete);
  return recording_reader(options.recorded->file, options.collecting, options.recorded->at);
}

ScreenState first_state(const RunOptions& options) {
  ScreenState state;
  state.fleet = options.fleet.has_value();
  state.view = options.view;
  state.interval_s = options.interval_s;
  state.colours = options.ansi.depth != view::ColourDepth::kNone;
  return state;
}

class Loop {
 public:
  Loop(const RunOptions& options, Terminal& terminal)
      : terminal_(terminal), source_(reader_of(options)) {
    history_.recall(options.past);
    state_ = first_state(options);
    ask();
  }

  void run() {
    int patience_ms = kFirstMs;
    while (true) {
      wait(patience_ms);
      take_frame();
      play();
      if (over_) return;
      ask();
      draw();
      patience_ms = state_.playing ? kPlayMs : kIdleMs;
    }
  }

 private:
  Shown shown() const { return {*frame_, history_, canvas_.zones, terminal_.size().rows}; }

  void ask() {
    // A recording stays as it is, once all of it is known.
    const bool rests = frame_->recording ? frame_->recording->outline != nullptr : state_.paused;
    source_.want(request_for(state_, frame_->snapshot), state_.interval_s, rests);
  }

  void play() {
    const Clock::time_point now = Clock::now();
    play_on(state_, *frame_, std::chrono::duration<double>(now - played_).count());
    played_ = now;
  }

  void draw() {
    state_.data_age_s = source_.age_s();
    const Terminal::Size size = terminal_.size();
    canvas_ = draw_screen({*frame_, history_, state_}, size.columns, size.rows);
    if (!terminal_.show(canvas_.grid)) over_ = true;
  }

  void wait(int patience_ms) {
    std::array<pollfd, 3> waiting = {{{STDIN_FILENO, POLLIN, 0},
                                      {terminal_.signal_descriptor(), POLLIN, 0},
                                      {source_.descriptor(), POLLIN, 0}}};
    // Escape is a key of its own and the beginning of every other special key: only time tells.
    const int timeout = decoder_.pending() ? kEscapeMs : patience_ms;
    const int ready = poll(waiting.data(), waiting.size(), timeout);
    if (ready == 0 && decoder_.pending()) apply_all(decoder_.flush());
    if (waiting[0].revents != 0) read_keys();
    if (waiting[1].revents != 0) take_signal();
  }

  void read_keys() {
    std::array<char, 4096> bytes{};
    const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got > 0) {
      apply_all(decoder_.feed({bytes.data(), static_cast<std::size_t>(got)}));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      over_ = true;  // the terminal is gone
    }
  }

  void apply_all(const std::vector<Input>& inputs) {
    for (const Input& input : inputs) {
      switch (apply(state_, input, shown())) {
        case Outcome::kGoOn:
          break;
        case Outcome::kRedraw:
          terminal_.forget();
          break;
        case Outcome::kStop:
          kill(0, SIGTSTP);  // as the terminal would: to everybody who is in the foreground
          break;
        case Outcome::kQuit:
          over_ = true;
          break;
      }
    }
  }

  void take_signal() {
    switch (terminal_.take_signal()) {
      case Terminal::Signal::kEnd:
        over_ = true;
        break;
      case Terminal::Signal::kStop:
        terminal_.stop();
        break;
      case Terminal::Signal::kRedraw:
        terminal_.forget();
        break;
      case Terminal::Signal::kNone:
        break;
    }
  }

  // Whether what the charts remember is of another time, or can be told only now.
  bool jumps(const RecordingView& next) const {
    if (!frame_->recording) return true;
    const RecordingView& before = *frame_->recording;
    return next.at < before.at || next.at > before.at + kChartStepNs ||
           (next.charts && !before.charts);
  }

  void take_frame() {
    std::shared_ptr<const Frame> next = source_.take();
    if (!next) return;
    // New events push the list down; the person still looks at the same one.
    state_.lists[static_cast<std::size_t>(View::kEvents)].selected =
        event_selected_in({*frame_, history_, state_}, *next);
    if (next->recording && jumps(*next->recording)) history_ = History::at(*next->recording);
    frame_ = std::move(next);
    history_.add(frame_->snapshot, frame_->state);
  }

  using Clock = std::chrono::steady_clock;
  Terminal& terminal_;
  Source source_;
  Clock::time_point played_ = Clock::now();
  ScreenState state_;
  std::shared_ptr<const Frame> frame_ = std::make_shared<Frame>();
  History history_;
  Canvas canvas_;
  InputDecoder decoder_;
  bool over_ = false;
};

}  // namespace

collect::Options what_to_read(const std::optional<ledger::ProcessSelector>& process) {
  collect::Options options;
  options.process = process;
  options.host = true;
  options.launches = true;
  options.host_every_ms = 3000;
  options.sensors_every_ms = 3000;
  options.quiet_every_ms = 300;
  return options;
}

Result<Finished> run(const RunOptions& options) {
  Result<Terminal> terminal = Terminal::open(options.ansi);
  if (!terminal) return terminal.error();
  Loop(options, *terminal).run();
  return Finished{};
}

std::string picture(const RunOptions& options, int columns, int rows) {
  const Read read = reader_of(options);
  const ScreenState state = first_state(options);
  Frame frame;
  History history;
  history.recall(options.past);
  // Twice, because a rate needs two looks; and what to ask for is known only after the first.
  read(request_for(state, frame.snapshot), frame);
  history.add(frame.snapshot);
  const std::chrono::duration<double> gap(std::min(options.interval_s, kOnceGapS));
  int looks = 0;
  do {
    std::this_thread::sleep_for(gap);
    read(request_for(state, frame.snapshot), frame);
  } while (frame.recording && !frame.recording->outline && ++looks < kMostLooks);
  history.add(frame.snapshot);
  const Canvas canvas = draw_screen({frame, history, state}, columns, rows);
  return state.colours ? view::styled_text(canvas.grid, options.ansi)
                       : view::plain_text(canvas.grid);
}

}  // namespace ttmem::top
