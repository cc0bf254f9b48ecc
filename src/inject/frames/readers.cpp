// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/frames/readers.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <ctime>

namespace ttmem::inject::frames {

namespace {

std::uint64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

bool Readers::open(pthread_t uncounted) {
  uncounted_ = uncounted;
  if (counts_) return true;
  void* memory = ::mmap(nullptr, kCounts * sizeof(Count), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  if (::madvise(memory, kCounts * sizeof(Count), MADV_WIPEONFORK) != 0) {
    ::munmap(memory, kCounts * sizeof(Count));
    return false;
  }
  counts_ = static_cast<Count*>(memory);
  return true;
}

void Readers::dismiss() {
  constexpr std::uint64_t kPatienceNs = 1'000'000'000;
  admitted_.store(false, std::memory_order_seq_cst);
  if (!counts_) return;
  const std::uint64_t end = now_ns() + kPatienceNs;
  for (std::size_t i = 0; i < kCounts; ++i) {
    while (counts_[i].threads.load(std::memory_order_acquire) != 0 && now_ns() < end) {
      ::sched_yield();
    }
  }
}

}  // namespace ttmem::inject::frames
