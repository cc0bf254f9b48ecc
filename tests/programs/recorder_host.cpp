// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A tracked program for the recorder's tests. Usage: recorder_host MODE [ARGUMENT...]
//   exit        records a buffer, and frees another one during static destruction
//   _exit       records a buffer and leaves without cleaning up
//   enabled     exit code 0 if recording is on, 1 if not
//   exec        records a buffer, says "ready", then becomes `sleep 60`
//   write LOG   allocates and frees on two threads, each step logged in LOG, until it is killed
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "../client/write_log.hpp"
#include "../support/devices.hpp"
#include "ttmem/ttmem.h"

namespace {

using ttmem::client::WriteLog;
using ttmem::support::allocate;

ttmem_allocator_t open_everything() {
  return ttmem::support::open_dram_on(ttmem::support::open_device());
}

struct FreesLate {
  ttmem_allocator_t allocator = 0;
  ~FreesLate() {
    if (allocator != 0) ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, 2);
  }
} frees_late;

void work(WriteLog::Thread& log, ttmem_allocator_t allocator, std::uint64_t first_id) {
  std::mt19937_64 random(first_id);
  bool held[WriteLog::kIds] = {};
  for (std::uint32_t step = 0; step < WriteLog::kSteps; ++step) {
    const auto which = static_cast<std::uint32_t>(random() % WriteLog::kIds);
    const std::uint64_t id = first_id + which;
    const auto block = static_cast<std::uint32_t>(held[which] ? 0 : 1 + random() % 1000000);
    log.steps[step] = {which, block};
    log.started.store(step + 1);
    if (held[which]) {
      ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, id);
    } else {
      allocate(allocator, id, block);
    }
    log.finished.store(step + 1);
    held[which] = !held[which];
  }
  for (;;) pause();
}

int write_until_killed(const char* path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, sizeof(WriteLog), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return 2;
  auto* log = static_cast<WriteLog*>(memory);
  const ttmem_allocator_t allocator = open_everything();
  std::strncpy(log->segment, ttmem_segment_path(), sizeof log->segment - 1);
  log->ready.store(1);
  std::thread other([&] { work(log->threads[1], allocator, WriteLog::kIds); });
  work(log->threads[0], allocator, 0);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  if (mode == "enabled") return ttmem_enabled() != 0 && ttmem_open() == 0 ? 0 : 1;
  if (mode == "write" && count > 2) return write_until_killed(arguments[2]);
  const ttmem_allocator_t allocator = open_everything();
  allocate(allocator, 1, 1000);
  if (mode == "exit") {
    allocate(allocator, 2, 2000);
    frees_late.allocator = allocator;
    return 0;
  }
  if (mode == "_exit") _exit(0);
  if (mode == "exec") {
    std::puts("ready");
    std::fflush(stdout);
    execlp("sleep", "sleep", "60", nullptr);
  }
  return 2;
}
