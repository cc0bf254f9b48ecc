// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A program as a child that its starter cannot tell from the command itself:
// signals are passed on, Ctrl-Z stops both, and the way it ended is told.
#pragma once

#include <sys/types.h>

#include <functional>

namespace ttmem::cli {

struct Ending {
  pid_t pid = -1;  // of the child; -1: it could not be started
  int code = 0;    // its exit code
  int signal = 0;  // that ended it; 0 = none
};

// Runs `body` in a child, which ends with what it returns, and waits for it.
// Signals that are sent to this process meanwhile go to the child; those of the
// terminal reach it anyway. `look`, if there is one, is called now and then
// while it runs.
Ending run_child(const std::function<int()>& body, const std::function<void()>& look = {});

// Ends this process as the child ended: with its code, or by its signal.
int end_as(const Ending& ending);

}  // namespace ttmem::cli
