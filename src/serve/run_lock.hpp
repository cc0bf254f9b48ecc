// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One daemon looks after one directory of segments. The lock goes with the process, however it
// ends.
#pragma once

#include <string>

#include "base/file_descriptor.hpp"

namespace ttmem::serve {

class RunLock {
 public:
  enum class Outcome { kTaken, kRunning, kImpossible };
  // In the directory where this user's programs write their segments. problem() says why not.
  Outcome take();
  const std::string& problem() const { return problem_; }

 private:
  FileDescriptor file_;
  std::string problem_;
};

}  // namespace ttmem::serve
