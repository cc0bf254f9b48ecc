// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Tests of the library's own recorder need a process each: there is only one recorder in a process.
// The body runs in a forked child, with the public calls and an empty directory of its own.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "client/recording.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

// Why a child ended: its exit code, or 1000 + signal.
inline int wait_for(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

// The descriptor of this process that has the segment open.
inline int own_descriptor() {
  struct stat wanted, found;
  if (stat(ttmem_segment_path(), &wanted) != 0) return -1;
  for (int fd = 0; fd < 1100; ++fd) {
    if (fstat(fd, &found) == 0 && found.st_ino == wanted.st_ino && found.st_dev == wanted.st_dev) {
      return fd;
    }
  }
  return -1;
}

inline bool is_locked(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  const bool asked = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0;
  close(fd);
  return asked && lock.l_type != F_UNLCK;
}

// A child's expectation: says what failed and ends with code 1.
inline void check(bool held, const char* what, int line) {
  if (held) return;
  std::fprintf(stderr, "line %d: %s\n", line, what);
  _exit(1);
}
#define CHECK_THAT(condition) ::ttmem::client::check((condition), #condition, __LINE__)

class OwnProcess : public ::testing::Test {
 protected:
  // 0 = the body ran to its end.
  int run(const std::function<void()>& body) { return wait_for(start(body)); }
  pid_t start(const std::function<void()>& body) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    alarm(100);
    setenv("TTMEM_DIR", directory.path().c_str(), 1);
    body();
    _exit(0);
  }
  std::string only_file() const {
    const auto files = directory.files();
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "" : files[0];
  }
  TemporaryDirectory directory;
};

using support::allocate;
using support::open_device;
using support::open_dram_on;

inline std::uint64_t taken_on(ttmem_device_t chip) {
  ttmem_figures figures = {};
  ttmem_self(chip, TTMEM_SPACE_DRAM, &figures);
  return figures.taken;
}

}  // namespace ttmem::client
