// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Programs: their kernels, the L1 that they are given, and the workloads they belong to.
//
// A program becomes known when it is compiled: on the chips of its workload's range, or on the
// device it was compiled for if it has no workload. From then on it is registered and counts
// nothing. Its kernels count from the first launch, which is recorded in one place for each kind:
// the enqueue of its workload, the slow launch of a program that has none, or the build of a system
// program.
#pragma once

#include <cstdint>
#include <vector>

#include "inject/chips.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::inject {

/// The L1 ranges of one part that a program is being given, gathered while the runtime places them.
struct RangeCollector {
  /// A mesh reports each range once per chip: one chip is enough.
  const void* first_device = nullptr;
  std::vector<ttmem_range> ranges;
};

namespace programs {

/// Part number -> ranges: circular buffers (with views), dataflow buffers, scratchpads.
inline constexpr int kParts = 3;

/// What the recorder knows a ProgramImpl by.
std::uint64_t id_of(const void* program);

/// Where it runs. The runtime compiles and checks for the whole mesh, `device`, even what runs on
/// one of its chips.
ttmem_set_t set_of(const void* program, const void* device);

/// The program's kernels have binaries now.
void compiled(const void* program, const void* device, std::uint64_t build_key);
void destroyed(const void* program);
/// Replaces one part of its L1.
void placed(const void* program, int part, std::vector<ttmem_range> ranges);

void joined(const void* workload, const void* program, const chips::Box& box);
void workload_destroyed(const void* workload);

/// The workload that is being enqueued was launched, or recorded into a trace.
void enqueued(const void* workload, const void* queue, const void* caller);
/// A program was written to one chip by the host. Programs that are counted elsewhere are left
/// alone.
void launched_slowly(const void* program, const void* device);

/// The recorder's handle of the workload that this thread is enqueueing, once it is compiled; 0 if
/// there is none.
ttmem_workload_t current();

/// After a fork: nothing of the parent's programs is ours.
void forget_recorder();

}  // namespace programs
}  // namespace ttmem::inject
