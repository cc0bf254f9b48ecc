// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One daemon looks after one directory of segments. The lock goes with the process, however it
// ends.
#pragma once

#include <string>

namespace ttmem::serve {

class RunLock {
 public:
  RunLock() = default;
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  enum class Outcome { kTaken, kRunning, kImpossible };
  // In the directory where this user's programs write their segments. problem() says why not.
  Outcome take();
  const std::string& problem() const { return problem_; }

 private:
  int descriptor_ = -1;
  std::string problem_;
};

}  // namespace ttmem::serve
