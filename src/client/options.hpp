// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "segment/format.hpp"

namespace ttmem::client {

// Which descriptor of this process holds the lock. Kept outside the recorder's memory, because a
// forked child must find and close it after that memory was wiped.
struct DescriptorNote {
  int fd = -1;
  dev_t device = 0;
  ino_t inode = 0;
};

// The lock belongs to the open file, which a forked child shares: were it to keep the descriptor,
// its parent would look alive for ever. Closes it if the number is still that file; forgets it
// anyway.
void close_inherited(DescriptorNote& note);

struct Options {
  const char* directory = nullptr;             // null: as docs/segment-format.md says
  const segment::Identity* subject = nullptr;  // whose memory; null: this process's own
  std::uint32_t source = 0;                    // TTMEM_SOURCE_*
  DescriptorNote* descriptor_note = nullptr;   // may hold an inherited descriptor, which is closed
};

}  // namespace ttmem::client
