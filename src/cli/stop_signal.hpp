// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Ctrl-C and its like as something to wait for: a command that runs until it is stopped ends
// through its own last lines, with everything put away.
#pragma once

#include <signal.h>

#include <chrono>

namespace ttmem::cli {

class StopSignal {
 public:
  StopSignal();   // SIGINT, SIGTERM and SIGHUP are held back from here on
  ~StopSignal();  // and come through again
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // True when a signal came within the time; then it stays true.
  bool wait(std::chrono::nanoseconds time);

 private:
  sigset_t signals_;
  sigset_t before_;
  bool stopped_ = false;
};

}  // namespace ttmem::cli
