// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A name in the file system under which a socket listens. It is never taken from somebody who
// serves it: a lock file beside it keeps two of ours apart, and whoever answers a connect keeps the
// name. At the end only the file that was made here is removed.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"

namespace ttmem::legacy {

class SocketPath {
 public:
  // Listens at `path` with this mode; `group` "" leaves the group as it is. The listening socket
  // does not block.
  static Result<SocketPath> take(const std::string& path, mode_t mode, const std::string& group);
  ~SocketPath();
  SocketPath(SocketPath&& other) noexcept;
  SocketPath& operator=(SocketPath&& other) noexcept;

  int listener() const { return listener_.get(); }
  const std::string& path() const { return path_; }

 private:
  explicit SocketPath(std::string path) : path_(std::move(path)) {}
  std::string lock();
  std::string clear_name() const;
  std::string listen(mode_t mode, const std::string& group);
  void let_go();

  std::string path_;
  FileDescriptor lock_, listener_;
  dev_t device_ = 0;
  ino_t inode_ = 0;  // of the socket's file; 0 = none was made
};

}  // namespace ttmem::legacy
