// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/demo_processes.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace ttmem::cli {
namespace {

// A child that outlived its parent by a moment must not go on: PDEATHSIG only fires for a parent
// that dies after the call.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
}

[[noreturn]] void be_child(pid_t parent, std::uint32_t index, int ready_pipe,
                           const DemoBody& body) {
  die_with(parent);
  const std::string name = fmt::format("ttmem-demo-{}", index);
  prctl(PR_SET_NAME, name.c_str());
  const int code = body(index, [&] {
    const char byte = 1;
    while (write(ready_pipe, &byte, 1) < 0 && errno == EINTR) {
    }
    close(ready_pipe);
  });
  exit(code);
}

// Waits for the child's byte; false when it ended without one.
bool is_ready(int pipe) {
  char byte = 0;
  ssize_t got = -1;
  do {
    got = read(pipe, &byte, 1);
  } while (got < 0 && errno == EINTR);
  close(pipe);
  return got == 1;
}

}  // namespace

bool DemoProcesses::start(std::uint32_t count, const DemoBody& body) {
  const pid_t parent = getpid();
  for (std::uint32_t index = 1; index <= count; ++index) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return false;
    const pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
      close(ready[0]);
      be_child(parent, index, ready[1], body);
    }
    close(ready[1]);
    pids_.push_back(child);
    running_.push_back(child);
    if (!is_ready(ready[0])) return false;
  }
  return true;
}

bool DemoProcesses::any_left() {
  std::erase_if(running_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == pid; });
  return !running_.empty();
}

DemoProcesses::~DemoProcesses() {
  for (const pid_t pid : running_) kill(pid, SIGTERM);
  for (const pid_t pid : running_) waitpid(pid, nullptr, 0);
}

}  // namespace ttmem::cli
