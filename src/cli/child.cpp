// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/child.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

namespace ttmem::cli {
namespace {

constexpr int kPassedOn[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                             SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH};
constexpr int kShellSignal = 128;  // what a shell adds to the signal that ended a program

sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kPassedOn) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

// Whether it has ended. One that was stopped stops this process too, and goes
// on with it.
bool has_ended(pid_t child, Ending& ending) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG | WUNTRACED) != child) return false;
  if (WIFSTOPPED(status)) {
    raise(SIGSTOP);
    kill(child, SIGCONT);
    return false;
  }
  if (WIFEXITED(status)) ending.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  return true;
}

void wait_for(pid_t child, const sigset_t& signals, const std::function<void()>& look,
              Ending& ending) {
  constexpr timespec kPause = {0, 50'000'000};
  while (!has_ended(child, ending)) {
    siginfo_t info;
    const int signal = sigtimedwait(&signals, &info, look ? &kPause : nullptr);
    if (look) look();
    // What the kernel sends for a terminal goes to every process of the group.
    if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) kill(child, signal);
  }
}

}  // namespace

Ending run_child(const std::function<int()>& body, const std::function<void()>& look) {
  const sigset_t signals = waited_for();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  Ending ending;
  ending.pid = fork();
  if (ending.pid == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    _exit(body());
  }
  if (ending.pid > 0) wait_for(ending.pid, signals, look, ending);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return ending;
}

int end_as(const Ending& ending) {
  if (ending.signal == 0) return ending.code;
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);  // the child has left one already
  signal(ending.signal, SIG_DFL);
  raise(ending.signal);
  return kShellSignal + ending.signal;
}

}  // namespace ttmem::cli
