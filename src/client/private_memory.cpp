// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/private_memory.hpp"

#include <sys/mman.h>

#include "segment/writer_file.hpp"

namespace ttmem::client {

bool PrivateMemory::reserve(std::uint64_t bytes) {
  bytes = segment::page_up(bytes);
  // Addresses without memory: arrays grow in place, and pointers into them stay good.
  void* start = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return false;
  madvise(start, bytes, MADV_DONTFORK);
  base_ = static_cast<std::byte*>(start);
  reserved_ = bytes;
  return true;
}

bool PrivateMemory::prepare(std::uint64_t bytes) {
  bytes = segment::page_up(bytes);
  const std::uint64_t ready = ready_.load(std::memory_order_relaxed);
  if (bytes <= ready) return true;
  if (bytes > reserved_) return false;
  if (mprotect(base_ + ready, bytes - ready, PROT_READ | PROT_WRITE) != 0) return false;
  // Touched here, on the cold path, so that the hot one meets no page fault.
  if (!segment::populate(base_ + ready, bytes - ready)) return false;
  ready_.store(bytes, std::memory_order_release);
  return true;
}

void PrivateMemory::give_back() {
  if (base_ != nullptr) munmap(base_, reserved_);
  base_ = nullptr;
  reserved_ = 0;
  ready_.store(0, std::memory_order_relaxed);
}

}  // namespace ttmem::client
