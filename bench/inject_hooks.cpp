// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a hook adds to a call of the runtime, recorder included. The runtime is the fake one of the
// tests and the hooks are preloaded, so this program starts itself again with the preload. A figure
// is the difference between calls through the hooks and straight ones, in turns; the median counts.

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

constexpr int kBatch = 512;
constexpr int kRounds = 200;
constexpr const char* kAllocate = "_ZN2tt8tt_metal13AllocatorImpl15allocate_bufferEPNS0_6BufferE";
constexpr const char* kFree = "_ZN2tt8tt_metal13AllocatorImpl17deallocate_bufferEPNS0_6BufferE";
constexpr const char* kEnqueue =
    "_ZN2tt8tt_metal11distributed19EnqueueMeshWorkloadERNS1_16MeshCommandQueueERNS1_"
    "12MeshWorkloadEb";

std::filesystem::path build_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

__attribute__((constructor)) void start_again_with_preload(int, char** arguments, char**) {
  const std::string preload = (build_directory() / "lib" / "libttmem_preload.so").string();
  if (::getenv("LD_PRELOAD") || ::access(preload.c_str(), R_OK) != 0) return;
  const std::string segments = "/dev/shm/ttmem-bench-" + std::to_string(::getpid());
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  ::setenv("TTMEM_DIR", segments.c_str(), 1);
  std::filesystem::create_directory(segments);
  ::execv("/proc/self/exe", arguments);
}

struct World {
  void* allocator;
  void* queue;
  void* workload;
};

using Call = std::uint64_t (*)(void*, void*, std::uint64_t);

struct Function {
  Call hooked = nullptr;
  Call straight = nullptr;
};

/// The fake runtime; `world` is null where it was not built.
struct Runtime {
  World* world = nullptr;
  void* (*make_buffer)(World*, int) = nullptr;
  Function allocate, free, enqueue;

  Runtime() {
    const auto path = build_directory() / "tests" / "fake_metal" / "libtt_metal.so";
    void* handle = ::dlopen(path.c_str(), RTLD_NOW);
    if (!handle || !::getenv("LD_PRELOAD")) return;
    const auto find = [handle](const char* name) {
      return Function{reinterpret_cast<Call>(::dlsym(RTLD_DEFAULT, name)),
                      reinterpret_cast<Call>(::dlsym(handle, name))};
    };
    allocate = find(kAllocate);
    free = find(kFree);
    enqueue = find(kEnqueue);
    make_buffer = reinterpret_cast<void* (*)(World*, int)>(::dlsym(handle, "fake_metal_buffer"));
    world = reinterpret_cast<World* (*)()>(::dlsym(handle, "fake_metal_open"))();
  }
  ~Runtime() {
    if (const char* segments = ::getenv("TTMEM_DIR")) std::filesystem::remove_all(segments);
  }
};

Runtime& runtime() {
  static Runtime once;
  return once;
}

/// Of this thread: what other programs do meanwhile does not count.
double cpu_nanoseconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Action>
double nanoseconds_each(Action&& action) {
  const double start = cpu_nanoseconds();
  for (int i = 0; i < kBatch; ++i) action(i);
  return (cpu_nanoseconds() - start) / kBatch;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Added {
  double allocate = 0;
  double free = 0;
};

/// Allocates a batch and frees it, through the hooks and straight, in turns.
Added added_by_buffers(int sharded) {
  Runtime& use = runtime();
  std::vector<void*> buffers(kBatch);
  for (void*& buffer : buffers) buffer = use.make_buffer(use.world, sharded);
  void* allocator = use.world->allocator;
  const auto with = [&](Call call) {
    return nanoseconds_each(
        [&](int i) { call(allocator, buffers[static_cast<std::size_t>(i)], 0); });
  };
  std::vector<double> allocations;
  std::vector<double> frees;
  for (int round = 0; round < kRounds; ++round) {
    const double hooked_allocation = with(use.allocate.hooked);
    const double hooked_free = with(use.free.hooked);
    const double straight_allocation = with(use.allocate.straight);
    const double straight_free = with(use.free.straight);
    allocations.push_back(hooked_allocation - straight_allocation);
    frees.push_back(hooked_free - straight_free);
  }
  return {median(allocations), median(frees)};
}

void report(benchmark::State& state, double value, double limit, const char* method) {
  state.counters["value"] = value;
  state.counters["limit"] = limit;
  state.SetLabel(std::string("ns; ") + method);
}

bool is_ready(benchmark::State& state) {
  if (runtime().world) return true;
  state.SkipWithError("the fake runtime or the preload is not built");
  return false;
}

void interleaved_allocation(benchmark::State& state) {
  if (!is_ready(state)) return;
  double value = 0;
  for (auto _ : state) value = added_by_buffers(0).allocate;
  report(state, value, 110, "hook and recorder, added to one allocation");
}

void sharded_allocation(benchmark::State& state) {
  if (!is_ready(state)) return;
  double value = 0;
  for (auto _ : state) value = added_by_buffers(1).allocate;
  report(state, value, 600, "hook and recorder, added to one allocation; copies the shard grid");
}

void release(benchmark::State& state) {
  if (!is_ready(state)) return;
  double value = 0;
  for (auto _ : state) value = added_by_buffers(0).free;
  report(state, value, 80, "hook and recorder, added to one free");
}

void cached_dispatch(benchmark::State& state) {
  if (!is_ready(state)) return;
  Runtime& use = runtime();
  void* queue = use.world->queue;
  void* workload = use.world->workload;
  use.enqueue.hooked(queue, workload, 0);
  const auto with = [&](Call call) {
    return nanoseconds_each([&](int) { call(queue, workload, 0); });
  };
  std::vector<double> added;
  for (auto _ : state) {
    for (int round = 0; round < kRounds; ++round) {
      const double hooked = with(use.enqueue.hooked);
      added.push_back(hooked - with(use.enqueue.straight));
    }
  }
  report(state, median(added), 60, "hook of the enqueue itself, the workload known");
}

BENCHMARK(interleaved_allocation)->Name("inject/allocation_interleaved")->Iterations(1);
BENCHMARK(sharded_allocation)->Name("inject/allocation_sharded")->Iterations(1);
BENCHMARK(release)->Name("inject/free")->Iterations(1);
BENCHMARK(cached_dispatch)->Name("inject/dispatch_cached")->Iterations(1);

}  // namespace
