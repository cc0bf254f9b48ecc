// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/writer_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ttmem::segment {
namespace {

constexpr char kHostWide[] = "/run/ttmem";

int open_path(const char* path, int flags, WriterDirectory& directory) {
  const std::size_t length = std::strlen(path);
  if (length >= sizeof directory.path) return ENAMETOOLONG;
  directory.fd.reset(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
  if (!directory.fd) return errno;
  std::memcpy(directory.path, path, length + 1);
  struct stat status;
  if (fstat(directory.fd.get(), &status) != 0) return errno;
  directory.group_readable = (status.st_mode & S_ISGID) != 0;
  return 0;
}

int open_given(const char* path, WriterDirectory& directory) {
  mkdir(path, 0700);  // if it is missing; the open below says whether that helped
  return open_path(path, 0, directory);
}

}  // namespace

int open_private_directory(const char* path, WriterDirectory& directory) {
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return errno;
  // Everybody may write in /dev/shm: somebody else may have made it first, or a link to elsewhere.
  // It must be a directory of ours that nobody else can write.
  if (const int error = open_path(path, O_NOFOLLOW, directory)) return error;
  struct stat status;
  if (fstat(directory.fd.get(), &status) == 0 && status.st_uid == geteuid() &&
      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return 0;
  }
  directory.fd.reset();
  return EPERM;
}

bool is_full(int error) { return error == ENOSPC || error == EDQUOT; }

void name_writer_directory(char (&path)[256]) {
  const char* wanted = secure_getenv("TTMEM_DIR");
  path[0] = '\0';
  if (wanted != nullptr && *wanted != '\0') {
    if (std::strlen(wanted) < sizeof path) std::memcpy(path, wanted, std::strlen(wanted) + 1);
  } else if (faccessat(AT_FDCWD, kHostWide, W_OK | X_OK, AT_EACCESS) == 0) {
    std::memcpy(path, kHostWide, sizeof kHostWide);
  } else {
    std::snprintf(path, sizeof path, "/dev/shm/ttmem-%u", static_cast<unsigned>(geteuid()));
  }
}

int open_writer_directory(const char* wanted, WriterDirectory& directory, Choice choice) {
  // secure_getenv: a setuid program must not write where its caller says.
  if (wanted == nullptr || *wanted == '\0') wanted = secure_getenv("TTMEM_DIR");
  if (wanted != nullptr && *wanted != '\0') return open_given(wanted, directory);
  if (choice == Choice::kFirst && faccessat(AT_FDCWD, kHostWide, W_OK | X_OK, AT_EACCESS) == 0) {
    return open_path(kHostWide, 0, directory);
  }
  char own[64];
  std::snprintf(own, sizeof own, "/dev/shm/ttmem-%u", static_cast<unsigned>(geteuid()));
  return open_private_directory(own, directory);
}

}  // namespace ttmem::segment
