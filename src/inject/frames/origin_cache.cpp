// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/frames/origin_cache.hpp"

#include <sys/mman.h>

namespace ttmem::inject::frames {

bool OriginCache::open() {
  if (sets_) return true;
  void* memory = ::mmap(nullptr, kSets * sizeof(Set), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  if (::madvise(memory, kSets * sizeof(Set), MADV_WIPEONFORK) != 0) {
    ::munmap(memory, kSets * sizeof(Set));
    return false;
  }
  sets_ = static_cast<Set*>(memory);
  return true;
}

}  // namespace ttmem::inject::frames
