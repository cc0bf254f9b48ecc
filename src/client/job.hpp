// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The few variables of the environment that say to which job of Slurm, Kubernetes, Open MPI or
// tt-run this process belongs. Only the process itself can read them: its /proc/PID/environ is
// closed to other users.
#pragma once

#include <cstddef>

namespace ttmem::client {

inline constexpr std::size_t kMaxJobBytes = 2048;

// Lines NAME=VALUE, one for each variable that is set. Returns the bytes written; what does not fit
// is left out as a whole line. No NUL at the end.
std::size_t job_of_environment(char* text, std::size_t capacity);

}  // namespace ttmem::client
