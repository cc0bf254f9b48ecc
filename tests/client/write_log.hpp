// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a writer that will be killed did, step by step, in a file that outlives it. A step that was
// started and not finished is the one operation in flight of its thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace ttmem::client {

struct WriteLog {
  static constexpr std::uint32_t kSteps = 1 << 18;
  static constexpr std::uint32_t kIds = 4096;

  struct Step {
    std::uint32_t id;     // within the thread
    std::uint32_t block;  // 0 = freed
  };
  struct Thread {
    std::atomic<std::uint32_t> started;
    std::atomic<std::uint32_t> finished;
    Step steps[kSteps];
  };

  std::atomic<std::uint32_t> ready;
  char segment[512];
  Thread threads[2];
};

}  // namespace ttmem::client
