// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Every launch as an event, where that is asked for.
#include <thread>
#include <vector>

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

class Launches : public Recording {
 protected:
  Launches() {
    recorder->workloads.tell_launches(true);
    const ttmem_ring ring = {TTMEM_CORE_TENSIX, 35008, 70656};
    manager = recorder->rings.opened(set, 0, 0, &ring, 1, false);
  }
  ttmem_workload_t workload_with_program(std::uint64_t id) {
    ttmem_kernel kernel = {};
    kernel.packed_bytes = 4096;
    ttmem_program program = {};
    program.struct_size = sizeof program;
    program.set = set;
    program.id = id;
    program.kernel_count = 1;
    program.kernels = &kernel;
    recorder->programs.registered(program, {});
    const ttmem_workload_t workload = recorder->workloads.created(id, set);
    recorder->workloads.joined(workload, id, set);
    return workload;
  }
  void launch(ttmem_workload_t workload, std::uint32_t bytes) {
    recorder->rings.simulated(manager, workload, &bytes, 1, 64, false);
    if (!recorder->workloads.dispatched_hot(workload)) recorder->workloads.dispatched(workload, 0);
  }
  // (workload, launches so far, how it was served) of each launch, in order.
  std::vector<std::vector<std::uint64_t>> told() {
    std::vector<std::vector<std::uint64_t>> all;
    for (const segment::Event& event : reader().events()) {
      const Payload& note = event.payload;
      if (event.slot != segment::kNoSlot) continue;
      if (Meta::block(note.meta) != static_cast<std::uint64_t>(segment::Note::kLaunched)) continue;
      EXPECT_EQ(note.set, set);
      EXPECT_NE(note.time, 0u);
      all.push_back({note.id, note.a, note.b});
    }
    return all;
  }
  ttmem_ring_manager_t manager = 0;
};

TEST_F(Launches, AreToldInOrderWithHowTheyWereServed) {
  const ttmem_workload_t a = workload_with_program(1), b = workload_with_program(2);
  launch(a, 40000);
  launch(a, 40000);
  launch(b, 40000);
  launch(a, 40000);  // b had been written over it
  using Row = std::vector<std::uint64_t>;
  EXPECT_EQ(told(), (std::vector<Row>{{1, 1, 1}, {1, 2, 0}, {2, 1, 1}, {1, 3, 2}}));
}

TEST_F(Launches, AreNotToldUnlessAskedFor) {
  recorder->workloads.tell_launches(false);
  const ttmem_workload_t a = workload_with_program(1);
  for (int i = 0; i < 3; ++i) launch(a, 1000);
  EXPECT_TRUE(told().empty());
}

TEST_F(Launches, OfManyThreadsAreAllCounted) {
  const ttmem_workload_t a = workload_with_program(1);
  launch(a, 16);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        if (!recorder->workloads.dispatched_hot(a)) recorder->workloads.dispatched(a, 0);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(reader().counters().events[16 + static_cast<int>(segment::Note::kLaunched)], 4001u);
}

}  // namespace
}  // namespace ttmem::client
