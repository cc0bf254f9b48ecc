// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A child of the test that does something, says that it is ready, and waits to be told to go on or
// to be killed. It ends with the test at the latest.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <utility>

namespace ttmem::support {

class Child {
 public:
  // `work` gets a function that says "ready" and returns when the test calls go_on().
  explicit Child(const std::function<void(const std::function<void()>& ready)>& work) {
    if (::pipe(to_test_) != 0 || ::pipe(to_child_) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(to_test_[0]);
      ::close(to_child_[1]);
      work([&] {
        char byte = 'r';
        if (::write(to_test_[1], &byte, 1) != 1 || ::read(to_child_[0], &byte, 1) != 1) ::_exit(1);
      });
      ::_exit(0);
    }
    ::close(to_test_[1]);
    ::close(to_child_[0]);
    wait_until_ready();
  }
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      reap();
    }
    ::close(to_test_[0]);
    ::close(to_child_[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void go_on() {
    const char byte = 'g';
    if (::write(to_child_[1], &byte, 1) != 1) throw std::runtime_error("the child is gone");
  }
  // False: it ended instead.
  bool wait_until_ready() {
    char byte = 0;
    return ::read(to_test_[0], &byte, 1) == 1;
  }
  // Killed, and still a zombie: nobody asked for its exit code yet.
  void kill_unreaped() {
    ::kill(pid_, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void wait_unreaped() {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void reap() {
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  void kill() {
    kill_unreaped();
    reap();
  }

 private:
  pid_t pid_ = -1;
  int to_test_[2] = {-1, -1};
  int to_child_[2] = {-1, -1};
};

}  // namespace ttmem::support
