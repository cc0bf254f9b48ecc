// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What `ttmem demo` records. Both use the public calls of ttmem.h and nothing else, as any program
// would.
#pragma once

#include <cstdint>
#include <memory>

#include "cli/demo_mesh.hpp"

namespace ttmem::cli {

// The worked example of the documentation, on every device: one Fabric kernel of 57,344 B on 16
// cores, one Dispatch kernel of 47,104 B on 2, one Application kernel of 102,400 B on 80 with
// circular buffers, one DRAM buffer of 26,214,400 B and one L1 buffer of 1,048,576 B. The
// application is dispatched twice: the second time adds no byte and one cache hit.
void record_seeds(std::uint32_t devices);

// A lively made-up workload: buffers, programs, dispatches and traces that come and go. The same
// seed gives the same life.
class BusyWorkload {
 public:
  BusyWorkload(std::uint32_t devices, std::uint64_t seed);
  ~BusyWorkload();
  BusyWorkload(const BusyWorkload&) = delete;
  BusyWorkload& operator=(const BusyWorkload&) = delete;

  void step();  // one thing happens

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::cli
