// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What recording costs beside processes that allocate and free as a decode loop does, how large an
// event becomes in the file, and how fast a recording is opened at a moment and replayed.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "record/recorder.hpp"
#include "report/report.hpp"
#include "tracked.hpp"

namespace ttmem::bench {
namespace {

constexpr std::uint64_t kTokenEvents = 738;  // of a decode loop, as measured with a real model

// Bursts of one token, at a pace of so many events a second, until it is killed.
[[noreturn]] void decode(double events_per_second) {
  const ttmem_allocator_t allocator = open_allocator(set_of(1));
  const auto token_ns = static_cast<std::uint64_t>(kTokenEvents / events_per_second * 1e9);
  std::uint64_t id = 1;
  for (std::uint64_t due = now_ns();; due += token_ns) {
    while (now_ns() < due) std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (std::uint64_t i = 0; i < kTokenEvents / 2; ++i, ++id) {
      allocate(allocator, id);
      ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, id);
    }
  }
}

class Writers {
 public:
  Writers(int count, double events_per_second) {
    use_own_directory();
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) decode(events_per_second / count);
      children_.push_back(child);
    }
  }
  ~Writers() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
  }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

 private:
  std::vector<pid_t> children_;
};

record::RecordOptions options_for(const support::TemporaryDirectory& files) {
  record::RecordOptions options;
  options.path = files / "bench.ttm";
  options.replace = true;
  return options;
}

// Of one core, in percent, while so many events a second come.
void record_for(benchmark::State& state, int writers, double events_per_second) {
  constexpr std::uint64_t kSeconds = 3;
  const support::TemporaryDirectory files("/tmp");
  for (auto _ : state) {
    const Writers running(writers, events_per_second);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    auto recorder = record::Recorder::start(options_for(files));
    if (!recorder) return state.SkipWithError(recorder.error().message.c_str());
    (*recorder)->look();
    const std::uint64_t before = (*recorder)->progress().events;
    const std::uint64_t begin = now_ns(), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
    while (now_ns() < begin + kSeconds * 1'000'000'000) {
      (*recorder)->look();
      std::this_thread::sleep_for((*recorder)->pause());
    }
    const double used = static_cast<double>(now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) /
                        static_cast<double>(now_ns() - begin) * 100;
    (*recorder)->finish();
    const record::Progress& progress = (*recorder)->progress();
    state.counters["value"] = used;
    state.counters["lost"] = static_cast<double>(progress.missed);
    state.counters["lost_limit"] = 0;
    state.counters["bytes_an_event"] =
        static_cast<double>(progress.bytes) / static_cast<double>(progress.events);
    state.counters["bytes_an_event_limit"] = 3;
    state.counters["events_per_second"] =
        static_cast<double>(progress.events - before) / static_cast<double>(kSeconds);
  }
}

void BM_RecordFourWriters(benchmark::State& state) {
  record_for(state, 4, 1e6);
  state.counters["limit"] = 60;
  state.SetLabel("% of one core; 10^6 events per second of 4 processes, a decode loop each");
}
BENCHMARK(BM_RecordFourWriters)->Iterations(1);

void BM_RecordOneWriter(benchmark::State& state) {
  record_for(state, 1, 1e5);
  state.counters["limit"] = 8;
  state.SetLabel("% of one core; 10^5 events per second of one process");
}
BENCHMARK(BM_RecordOneWriter)->Iterations(1);

// Records what this process does, as long as it is there.
class Following {
 public:
  explicit Following(const support::TemporaryDirectory& files)
      : recorder_(std::move(*record::Recorder::start(options_for(files)))),
        thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            recorder_->look();
            std::this_thread::sleep_for(recorder_->pause());
          }
        }) {}
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

 private:
  std::unique_ptr<record::Recorder> recorder_;
  std::jthread thread_;
};

// Bursts of one token, at a pace of 10^5 events a second.
void time_decoding(ttmem_allocator_t allocator, std::uint64_t& id, Timing& timing) {
  for (int token = 0; token < 50; ++token) {
    for (std::uint64_t i = 0; i < kTokenEvents / 2; i += Timing::kBatch) {
      timing.batch([&](int) {
        allocate(allocator, ++id);
        ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, id);
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(7));
  }
}

// Both in turns, so that what else goes on meets both.
void BM_Recorded(benchmark::State& state) {
  const support::TemporaryDirectory files("/tmp");
  const ttmem_allocator_t allocator = open_allocator(set_of(1));
  Timing alone, recorded;
  std::uint64_t id = 1ull << 32;
  for (auto _ : state) {
    for (int turn = 0; turn < 6; ++turn) {
      time_decoding(allocator, id, alone);
      const Following recorder(files);
      time_decoding(allocator, id, recorded);
    }
  }
  state.counters["value"] = recorded.median() / alone.median() * 100;
  state.counters["limit"] = 110;
  state.SetLabel("% of what allocations and releases cost while nobody records them");
}
BENCHMARK(BM_Recorded)->Iterations(1);

// A recording of so many events, made as fast as they can be written.
class Long {
 public:
  explicit Long(std::uint64_t events) : events_(events) {
    use_own_directory();
    const ttmem_allocator_t allocator = open_allocator(set_of(1));
    auto recorder = record::Recorder::start(options_for(files_));
    if (!recorder) return;
    std::uint64_t id = 1ull << 40;
    for (std::uint64_t i = 0; i < 1000; ++i) allocate(allocator, ++id);
    (*recorder)->look();
    while ((*recorder)->progress().events < events) {
      for (int i = 0; i < 2000; ++i) {
        allocate(allocator, ++id);
        ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, id - 500);
      }
      (*recorder)->look();
    }
    (*recorder)->finish();
    is_made_ = (*recorder)->progress().missed == 0;
  }
  bool is_made() const { return is_made_; }
  std::uint64_t events() const { return events_; }
  std::string path() const { return files_ / "bench.ttm"; }

 private:
  support::TemporaryDirectory files_{"/tmp"};
  std::uint64_t events_;
  bool is_made_ = false;
};

void BM_Replay(benchmark::State& state) {
  const Long recording(5'000'000);
  if (!recording.is_made()) return state.SkipWithError("events were missed while it was made");
  for (auto _ : state) benchmark::DoNotOptimize(collect::outline_of(recording.path(), 100));
  state.counters["value"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(recording.events()) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["limit"] = 200;
  state.SetLabel("ns an event; one pass over 5 x 10^6 events, with peaks and failures");
}
BENCHMARK(BM_Replay)->Iterations(2);

void BM_OpenAtATime(benchmark::State& state) {
  const Long recording(100'000'000);
  if (!recording.is_made()) return state.SkipWithError("events were missed while it was made");
  for (auto _ : state) {
    auto collector = collect::Collector::open_recording(recording.path(), {});
    collect::Replay& replay = *collector->replay();
    replay.seek(replay.first() + (replay.last() - replay.first()) / 7 * 3);
    collector->refresh();
    benchmark::DoNotOptimize(collector->snapshot().time);
  }
  state.counters["limit"] = 200;
  state.SetLabel("ms; opening a recording of 10^8 events at a time");
}
BENCHMARK(BM_OpenAtATime)->Iterations(5)->Unit(benchmark::kMillisecond);

// In a process of its own, whose time and memory the system tells: other work on the machine does
// not count.
void BM_Report(benchmark::State& state) {
  const Long recording(10'000'000);
  if (!recording.is_made()) return state.SkipWithError("events were missed while it was made");
  for (auto _ : state) {
    const pid_t child = fork();
    if (child == 0) {
      const auto report = report::gather({.file = recording.path()});
      _exit(report && report::html(*report).size() < 1'000'000 ? 0 : 1);
    }
    int status = 0;
    rusage used{};
    wait4(child, &status, 0, &used);
    if (status != 0) return state.SkipWithError("no report, or a large one");
    state.counters["value"] =
        static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
        static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    state.counters["mib"] = static_cast<double>(used.ru_maxrss) / 1024;
    state.counters["mib_limit"] = 1024;
  }
  state.counters["limit"] = 20;
  state.SetLabel("s of CPU; the report of a recording of 10^7 events");
}
BENCHMARK(BM_Report)->Iterations(1);

}  // namespace
}  // namespace ttmem::bench
