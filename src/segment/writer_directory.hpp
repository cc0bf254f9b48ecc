// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where a writer puts its segment: the directory it was given, else $TTMEM_DIR, else /run/ttmem if
// a host-wide install made it and we may write there, else /dev/shm/ttmem-<uid>, which is made with
// mode 0700 and refused if it is a link or belongs to somebody else.
#pragma once

#include "base/file_descriptor.hpp"

namespace ttmem::segment {

struct WriterDirectory {
  FileDescriptor fd;
  char path[256];
  bool group_readable;  // setgid: files in it belong to the group of the install
};

// Which one that is, whether or not it can be used; empty if its path is too long.
void name_writer_directory(const char* wanted, char (&path)[256]);

// Returns 0 or an errno. `wanted` may be null.
int open_writer_directory(const char* wanted, WriterDirectory& directory);

// The last choice of the above for any path: made if it is missing, and refused (EPERM, ELOOP,
// ENOTDIR) unless it is a directory of ours that nobody else may write.
int open_private_directory(const char* path, WriterDirectory& directory);

}  // namespace ttmem::segment
