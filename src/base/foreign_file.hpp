// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Opening what stands in a place where others may put things: a name can be a link to somewhere
// else, a pipe that never answers, or a device that starts to move when it is opened. Only regular
// files come out, opened so that nothing can be followed, waited for or inherited, with what the
// kernel says about them: the file's owner is a fact, whatever the file says.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/file_descriptor.hpp"

namespace ttmem {

struct ForeignFile {
  FileDescriptor descriptor;  // none if there was an error
  struct stat facts = {};
  int error = 0;  // an errno; kNotRegular
};

inline constexpr int kNotRegular = -1;

// `name` is relative to the open directory; AT_FDCWD stands for a whole path.
inline ForeignFile open_foreign(int directory, const char* name) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  ForeignFile file;
  // A look should leave no trace, and is quicker so; only the owner and root may ask for that.
  file.descriptor.reset(::openat(directory, name, kFlags | O_NOATIME));
  if (!file.descriptor && errno == EPERM) {
    file.descriptor.reset(::openat(directory, name, kFlags));
  }
  if (!file.descriptor || ::fstat(file.descriptor.get(), &file.facts) != 0) {
    file.error = errno;
  } else if (!S_ISREG(file.facts.st_mode)) {
    file.error = kNotRegular;
  }
  if (file.error != 0) file.descriptor.reset();
  return file;
}

// All of the bytes at an offset; false if the file ends before, or cannot be read.
inline bool read_all(int descriptor, std::uint64_t offset, void* into, std::size_t bytes) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace ttmem
