// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Ctrl-C and its like as something to wait for: a command that runs until it is stopped ends
// through its own last lines, with everything put away.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

namespace ttmem::cli {

class StopSignal {
 public:
  StopSignal();   // SIGINT, SIGTERM and SIGHUP are held back from here on
  ~StopSignal();  // and come through again
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // For a child that is to run another program: signals come through to it.
  void let_through() const;

  // True when a signal came within the time; then it stays true.
  bool wait(std::chrono::nanoseconds time);

  // The signal that came within the time, for who passes it on to a child. It does not stay. What
  // the terminal sends goes to the child as well; what a process sent does not.
  struct Came {
    int number = 0;
    bool from_process = false;
  };
  std::optional<Came> take(std::chrono::nanoseconds time) const;

 private:
  sigset_t signals_;
  sigset_t before_;
  bool stopped_ = false;
};

}  // namespace ttmem::cli
