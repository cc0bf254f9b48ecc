// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where a writer puts its segment: the directory it was given, else $TTMEM_DIR, else /run/ttmem if
// a host-wide install made it and we may write there, else /dev/shm/ttmem-<uid>, which is made with
// mode 0700 and refused if it is a link or belongs to somebody else. Others may fill the host-wide
// one: who finds no room there takes the last choice.
#pragma once

#include "base/file_descriptor.hpp"

namespace ttmem::segment {

struct WriterDirectory {
  FileDescriptor fd;
  char path[256];
  bool group_readable;  // setgid: files in it belong to the group of the install
};

enum class Choice { kFirst, kLast };  // kLast: only where nobody wished for a directory

// The first of them that this process would try; "" if its path is too long.
void name_writer_directory(char (&path)[256]);

// Returns 0 or an errno. `wanted` may be null.
int open_writer_directory(const char* wanted, WriterDirectory& directory,
                          Choice choice = Choice::kFirst);

// Whether the last choice may help after this errno.
bool is_full(int error);

// The last choice of the above for any path: made if it is missing, and refused (EPERM, ELOOP,
// ENOTDIR) unless it is a directory of ours that nobody else may write.
int open_private_directory(const char* path, WriterDirectory& directory);

}  // namespace ttmem::segment
