// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/options.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace ttmem::client {

void close_inherited(DescriptorNote& note) {
  struct stat status;
  if (note.fd >= 0 && fstat(note.fd, &status) == 0 && status.st_dev == note.device &&
      status.st_ino == note.inode) {
    close(note.fd);
  }
  note = {};
}

}  // namespace ttmem::client
