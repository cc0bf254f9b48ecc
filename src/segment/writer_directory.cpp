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

namespace {

enum class Choice { kGiven, kShared, kPrivate };

Choice choose(const char*& wanted) {
  // secure_getenv: a setuid program must not write where its caller says.
  if (wanted == nullptr || *wanted == '\0') wanted = secure_getenv("TTMEM_DIR");
  if (wanted != nullptr && *wanted != '\0') return Choice::kGiven;
  const bool host_wide = faccessat(AT_FDCWD, kHostWide, W_OK | X_OK, AT_EACCESS) == 0;
  return host_wide ? Choice::kShared : Choice::kPrivate;
}

}  // namespace

void name_writer_directory(const char* wanted, char (&path)[256]) {
  path[0] = '\0';
  switch (choose(wanted)) {
    case Choice::kGiven:
      if (std::strlen(wanted) < sizeof path) std::memcpy(path, wanted, std::strlen(wanted) + 1);
      break;
    case Choice::kShared:
      std::memcpy(path, kHostWide, sizeof kHostWide);
      break;
    case Choice::kPrivate:
      std::snprintf(path, sizeof path, "/dev/shm/ttmem-%u", static_cast<unsigned>(geteuid()));
      break;
  }
}

int open_writer_directory(const char* wanted, WriterDirectory& directory) {
  const Choice choice = choose(wanted);
  char path[256];
  name_writer_directory(wanted, path);
  if (path[0] == '\0') return ENAMETOOLONG;
  if (choice == Choice::kGiven) return open_given(path, directory);
  return choice == Choice::kShared ? open_path(path, 0, directory)
                                   : open_private_directory(path, directory);
}

}  // namespace ttmem::segment
