// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One recorded buffer against one LTTng-UST event with the same fields. LTTng only appends; ours
// also keeps the table. Needs a session that records ttmem_bench:*, which bench/with_lttng starts.
#include <benchmark/benchmark.h>

#include "tracked.hpp"

#if defined(TTMEM_HAVE_LTTNG)
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "record_lttng_event.h"
#endif

namespace ttmem::bench {
namespace {

#if defined(TTMEM_HAVE_LTTNG)

void lttng_ust_event(benchmark::State& state) {
  const ttmem_allocator_t allocator = open_allocator(set_of(1));
  ttmem_buffer buffer = {};
  buffer.block = buffer.requested = 2048;
  buffer.allocator = allocator;
  Timing ours, theirs;
  for (auto _ : state) {
    const std::uint64_t first = buffer.id;
    theirs.batch([&](int) {
      ++buffer.id;
      lttng_ust_tracepoint(ttmem_bench, buffer_allocated, &buffer);
    });
    buffer.id = first;
    ours.batch([&](int) {
      ++buffer.id;
      ttmem_buffer_allocated(&buffer);
    });
    ttmem_allocator_cleared(allocator);
  }
  ttmem_allocator_closed(allocator);
  state.counters["value"] = ours.median() / theirs.median();
  state.counters["limit"] = 1.0 / 2;
  state.SetLabel("of its time; ours against an LTTng-UST event with the same fields (" +
                 std::to_string(static_cast<int>(theirs.median())) + " ns)");
}

const bool is_recorded = [] {
  if (lttng_ust_tracepoint_enabled(ttmem_bench, buffer_allocated)) {
    benchmark::RegisterBenchmark("lttng_ust_event", lttng_ust_event)->Iterations(5000);
    return true;
  }
  std::fprintf(stderr,
               "lttng_ust_event left out: no LTTng session records ttmem_bench:* "
               "(bench/with_lttng starts one)\n");
  return false;
}();

#else

const bool is_recorded = [] {
  std::fprintf(stderr, "lttng_ust_event left out: LTTng-UST is not installed\n");
  return false;
}();

#endif

}  // namespace
}  // namespace ttmem::bench
