// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What `ttmem top` costs on a host with 32 devices and 1,000 processes, 100 buffers each: from the
// segments to the bytes for the terminal. And how long the real program, started in a terminal,
// takes to its first picture.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "many_segments.hpp"
#include "top/history.hpp"
#include "top/run.hpp"
#include "top/source.hpp"
#include "top/views.hpp"
#include "view/ansi.hpp"

namespace {

using namespace ttmem;
using bench::ManySegments;

constexpr std::uint32_t kProcesses = 1000, kDevices = 32, kBuffers = 100;
constexpr int kColumns = 200, kRows = 60;

ManySegments& host() {
  static ManySegments once(kProcesses, kBuffers, kDevices);
  return once;
}

double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// A picture of what was read, and what the terminal is sent for it.
class Screen {
 public:
  void show(const top::Frame& frame) {
    history_.add(frame.snapshot, frame.state);
    top::Canvas canvas = top::draw_screen({frame, history_, state_}, kColumns, kRows);
    benchmark::DoNotOptimize(view::difference(shown_, canvas.grid, ansi_));
    shown_ = std::move(canvas.grid);
  }

 private:
  top::History history_;
  const top::ScreenState state_;
  const view::Ansi ansi_{view::Palette(view::Theme::kDark), view::ColourDepth::kTrue};
  view::Grid shown_;
};

// The cost of drawing alone, ten times a second.
void top_draw(benchmark::State& state) {
  collect::Collector collector(host().options());
  Screen screen;
  top::Frame frame;
  double spent_ms = 0;
  for (auto _ : state) {
    host().change(kBuffers);
    collector.refresh();
    const double begin = cpu_ms();
    frame.snapshot = collector.snapshot();
    screen.show(frame);
    spent_ms += cpu_ms() - begin;
  }
  if (frame.snapshot.processes.size() != kProcesses || frame.snapshot.devices.size() != kDevices) {
    return state.SkipWithError("wrong figures");
  }
  state.counters["value"] = spent_ms / static_cast<double>(state.iterations()) * 10 / 1000 * 100;
  state.counters["limit"] = 5;
  state.SetLabel("% of a core at 10 Hz, drawing alone; 32 devices, 1,000 processes, 200x60");
}

// Pictures of all frames that come within a time; how many there were.
int show_for(double ms, top::Source& source, Screen& screen) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(ms);
  int frames = 0;
  while (std::chrono::steady_clock::now() < end) {
    pollfd ready{source.descriptor(), POLLIN, 0};
    poll(&ready, 1, 100);
    const auto frame = source.take();
    if (!frame) continue;
    screen.show(*frame);
    ++frames;
  }
  return frames;
}

// The whole: the reading thread asked for 10 Hz, and a picture of each frame. The first look, and
// the rest that follows it, belong to another benchmark.
void top_all_day(benchmark::State& state) {
  constexpr double kStartMs = 3000, kMeasuredMs = 6000;
  double spent_ms = 0;
  int frames = 0;
  for (auto _ : state) {
    collect::Options options = top::what_to_read({});
    options.directories = {host().directory()};
    top::Source source(top::collector_reader(options));
    Screen screen;
    source.want({}, 0.1, false);
    show_for(kStartMs, source, screen);
    const double cpu_before = cpu_ms();
    frames += show_for(kMeasuredMs, source, screen);
    spent_ms += cpu_ms() - cpu_before;
  }
  state.counters["value"] = spent_ms / kMeasuredMs * 100;
  state.counters["limit"] = 5;
  state.SetLabel(fmt::format(
      "% of a core, reading and drawing; the same host, asked for 10 Hz, given {:.1f} per second",
      frames / kMeasuredMs * 1000));
}

struct Times {
  double first_ms = -1, data_ms = -1;
};

// Starts `ttmem top` on a terminal of its own and reads what it sends.
Times start_and_read(const std::string& program) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto passed = [begin] {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  winsize size{kRows, kColumns, 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("TTMEM_DIR", host().directory().c_str(), 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("TERM", "xterm-256color", 1);
    execl(program.c_str(), program.c_str(), "top", static_cast<char*>(nullptr));
    _exit(127);
  }
  Times times;
  std::string all;
  pollfd ready{terminal, POLLIN, 0};
  while (times.data_ms < 0 && passed() < 10'000 && poll(&ready, 1, 10'000) > 0) {
    char bytes[65536];
    const ssize_t got = read(terminal, bytes, sizeof bytes);
    if (got <= 0) break;
    all.append(bytes, static_cast<std::size_t>(got));
    if (times.first_ms < 0 && all.find("Overview") != std::string::npos) times.first_ms = passed();
    if (all.find("1000 shown") != std::string::npos) times.data_ms = passed();
  }
  kill(child, SIGTERM);
  close(terminal);
  waitpid(child, nullptr, 0);
  return times;
}

void top_first_frame(benchmark::State& state) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "ttmem";
  if (!std::filesystem::exists(program)) return state.SkipWithError("bin/ttmem is not built");
  host();
  Times best{1e9, 1e9};
  for (auto _ : state) {
    const Times times = start_and_read(program);
    if (times.data_ms < 0) return state.SkipWithError("the screen never showed the processes");
    best = {std::min(best.first_ms, times.first_ms), std::min(best.data_ms, times.data_ms)};
  }
  state.counters["value"] = best.first_ms;
  state.counters["limit"] = 100;
  state.counters["data"] = best.data_ms;
  state.counters["data_limit"] = 400;
  state.SetLabel("ms; start of the program to its first picture, and to all 1,000 processes on it");
}

BENCHMARK(top_draw)->Iterations(50)->Unit(benchmark::kMillisecond);
BENCHMARK(top_all_day)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(top_first_frame)->Iterations(5)->Unit(benchmark::kMillisecond);

}  // namespace
