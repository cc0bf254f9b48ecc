// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a call costs the tracked program, against the socket of the original.
#include <sys/socket.h>

#include <mutex>
#include <thread>

#include <benchmark/benchmark.h>

#include "tracked.hpp"

namespace ttmem::bench {
namespace {

constexpr std::uint64_t kLive = 10'000;

struct Limits {
  double median;
  double p999;
};

void report(benchmark::State& state, Timing& timing, Limits limits, const char* label) {
  state.counters["value"] = timing.median();
  state.counters["limit"] = limits.median;
  if (limits.p999 > 0) {
    state.counters["p999"] = timing.p999();
    state.counters["p999_limit"] = limits.p999;
  }
  state.SetLabel(label);
}

// Allocates and frees in batches among buffers that stay; times one of the two.
Timing time_buffers(benchmark::State& state, std::uint16_t devices, bool of_alloc) {
  const ttmem_allocator_t allocator = open_allocator(set_of(devices));
  for (std::uint64_t id = 0; id < kLive; ++id) allocate(allocator, id * 2048);
  Timing timing;
  std::uint64_t next = kLive;
  const auto round = [&](auto time_alloc, auto time_free) {
    const std::uint64_t first = next;
    next += Timing::kBatch;
    const auto id = [&](int i) { return (first + static_cast<std::uint64_t>(i)) * 2048; };
    time_alloc([&](int i) { allocate(allocator, id(i)); });
    time_free([&](int i) { ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, id(i)); });
  };
  const auto untimed = [](auto call) {
    for (int i = 0; i < Timing::kBatch; ++i) call(i);
  };
  for (auto _ : state) {
    const auto batch = [&](auto call) { timing.batch(call); };
    const auto singles = [&](auto call) { timing.singles(call); };
    if (of_alloc) {
      round(batch, untimed);
      round(singles, untimed);
    } else {
      round(untimed, batch);
      round(untimed, singles);
    }
  }
  ttmem_allocator_closed(allocator);
  return timing;
}

void record_alloc(benchmark::State& state) {
  Timing timing = time_buffers(state, 1, true);
  report(state, timing, {60, 1000}, "ns; one thread, one device, 10^4 live; p999 of single calls");
}
BENCHMARK(record_alloc)->Iterations(5000);

void record_free(benchmark::State& state) {
  Timing timing = time_buffers(state, 1, false);
  report(state, timing, {60, 1000}, "ns; one thread, one device, 10^4 live; p999 of single calls");
}
BENCHMARK(record_free)->Iterations(5000);

void record_alloc_32(benchmark::State& state) {
  Timing timing = time_buffers(state, 32, true);
  report(state, timing, {120, 0}, "ns; one call for a set of 32 devices");
}
BENCHMARK(record_alloc_32)->Iterations(5000);

void record_free_32(benchmark::State& state) {
  Timing timing = time_buffers(state, 32, false);
  report(state, timing, {120, 0}, "ns; one call for a set of 32 devices");
}
BENCHMARK(record_free_32)->Iterations(5000);

// ---- dispatch ------------------------------------------------------------------------------

void record_dispatch(benchmark::State& state) {
  Timing timing = time_launches(state, 1);
  report(state, timing, {20, 1000}, "ns; a workload that is loaded; p999 of single calls");
}
BENCHMARK(record_dispatch)->Iterations(5000);

void record_dispatch_32(benchmark::State& state) {
  Timing timing = time_launches(state, 32);
  report(state, timing, {120, 0}, "ns; a loaded workload on a set of 32 devices");
}
BENCHMARK(record_dispatch_32)->Iterations(5000);

void disabled_call(benchmark::State& state) {
  set_of(1);
  const int active = ttmem_active_;
  ttmem_active_ = 0;
  constexpr int kCalls = 1000;
  Timing timing;
  for (auto _ : state) {
    timing.batch([&](int) {
      for (int i = 0; i < kCalls; ++i) {
        benchmark::ClobberMemory();
        ttmem_buffer_freed(1, 0, 0);
      }
    });
  }
  ttmem_active_ = active;
  state.counters["value"] = timing.median() / kCalls;
  state.counters["limit"] = 1;
  state.SetLabel("ns; recording is off, the check is inline");
}
BENCHMARK(disabled_call)->Iterations(100);

// ---- the original's way --------------------------------------------------------------------

// A mutex and a blocking send of one 144-byte message to a reader, as the original's client does.
class LegacySender {
 public:
  LegacySender() {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0) std::abort();
    reader_ = std::thread([this] {
      char message[144];
      while (recv(ends_[1], message, sizeof message, MSG_WAITALL) > 0) {
        benchmark::DoNotOptimize(message);
      }
    });
  }
  ~LegacySender() {
    close(ends_[0]);
    reader_.join();
    close(ends_[1]);
  }
  LegacySender(const LegacySender&) = delete;
  LegacySender& operator=(const LegacySender&) = delete;
  void send_one() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const char message[144] = {1};
    if (send(ends_[0], message, sizeof message, MSG_NOSIGNAL) != sizeof message) std::abort();
  }

 private:
  int ends_[2];
  std::mutex mutex_;
  std::thread reader_;
};

// A steady stream on both sides: the socket's buffer does not hide what the reader costs.
void legacy_send(benchmark::State& state) {
  constexpr std::uint64_t kCalls = 2'000;
  const ttmem_allocator_t allocator = open_allocator(set_of(1));
  LegacySender sender;
  std::vector<double> ours, theirs;
  const auto time = [](std::vector<double>& into, auto call) {
    const std::uint64_t start = now_ns();
    for (std::uint64_t i = 0; i < kCalls; ++i) call(i);
    into.push_back(static_cast<double>(now_ns() - start) / kCalls);
  };
  for (auto _ : state) {
    time(theirs, [&](std::uint64_t) { sender.send_one(); });
    // The original sends a message for each of the two.
    time(ours, [&](std::uint64_t i) {
      if (i % 2 == 0) {
        allocate(allocator, i * 2048);
      } else {
        ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, (i - 1) * 2048);
      }
    });
  }
  ttmem_allocator_closed(allocator);
  const double send = percentile(theirs, 0.5);
  state.counters["value"] = percentile(ours, 0.5) / send;
  state.counters["limit"] = 1.0 / 20;
  state.SetLabel("of its time; ours against a mutex and a blocking 144-byte send to a reader (" +
                 std::to_string(static_cast<int>(send)) + " ns)");
}
BENCHMARK(legacy_send)->Iterations(300);

}  // namespace
}  // namespace ttmem::bench
