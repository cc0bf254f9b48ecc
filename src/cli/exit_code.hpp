// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the command says to scripts; docs/exit-codes.md explains each.
#pragma once

namespace ttmem::cli {

enum ExitCode : int {
  kOk = 0,        // done; also when there is nothing to show
  kNotFound = 1,  // what was named (a device, process, core or failure) is not there
  kUsage = 2,     // the command line is wrong
  kFailed = 3,    // the system refused: a directory cannot be read, a disk is full
  kRunning = 4,   // `serve`: another daemon runs already
};

}  // namespace ttmem::cli
