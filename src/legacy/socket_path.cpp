// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/socket_path.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace ttmem::legacy {
namespace {

constexpr int kBacklog = 4096;

bool fill(sockaddr_un& address, const std::string& path) {
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

const sockaddr* plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Whether somebody listens there; an errno if that cannot be told.
int ask(const sockaddr_un& address) {
  const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.get(), plain(address), sizeof address) == 0 ? 0 : errno;
}

std::string system_error(std::string_view what, const std::string& path) {
  return fmt::format("{} {}: {}", what, path, std::strerror(errno));
}

}  // namespace

Result<SocketPath> SocketPath::take(const std::string& path, mode_t mode,
                                    const std::string& group) {
  SocketPath taken(path);
  std::string problem = taken.lock();
  if (problem.empty()) problem = taken.clear_name();
  if (problem.empty()) problem = taken.listen(mode, group);
  if (!problem.empty()) return Error{ErrorCode::kSystem, problem};
  return taken;
}

// The file is removed by its last holder; a lock on a file that has lost its name is worth nothing.
std::string SocketPath::lock() {
  const std::string name = path_ + ".lock";
  for (int tries = 0; tries < 8; ++tries) {
    lock_.reset(::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock_) return system_error("cannot create the lock file", name);
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      lock_.reset();
      return fmt::format("another server holds {}; stop it, or choose another path", path_);
    }
    struct stat held{}, named{};
    if (::fstat(lock_.get(), &held) == 0 && ::lstat(name.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
      return "";
    }
    lock_.reset();
  }
  return fmt::format("the lock file of {} keeps changing", path_);
}

std::string SocketPath::clear_name() const {
  sockaddr_un address;
  if (!fill(address, path_)) return fmt::format("{} is too long for a socket's path", path_);
  struct stat there{};
  if (::lstat(path_.c_str(), &there) != 0) return "";
  if (!S_ISSOCK(there.st_mode))
    return fmt::format("{} exists and is not a socket: remove it", path_);
  const int error = ask(address);
  if (error == 0 || error == EAGAIN) {
    return fmt::format("another server listens at {}; stop it, or choose another path", path_);
  }
  if (error != ECONNREFUSED) {
    return fmt::format("cannot tell who listens at {}: {}", path_, std::strerror(error));
  }
  if (::unlink(path_.c_str()) == 0 || errno == ENOENT) return "";
  return system_error("cannot remove the socket that nobody serves,", path_);
}

std::string SocketPath::listen(mode_t mode, const std::string& group) {
  sockaddr_un address;
  fill(address, path_);
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_) return system_error("cannot create a socket for", path_);
  // Nobody but us until mode and group are set.
  const mode_t before = ::umask(0177);
  const bool bound = ::bind(listener_.get(), plain(address), sizeof address) == 0;
  ::umask(before);
  if (!bound) return system_error("cannot bind", path_);
  struct stat made{};
  if (::lstat(path_.c_str(), &made) == 0) {
    device_ = made.st_dev;
    inode_ = made.st_ino;
  }
  if (!group.empty()) {
    const ::group* entry = ::getgrnam(group.c_str());
    if (entry == nullptr) return fmt::format("there is no group {}", group);
    if (::lchown(path_.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0) {
      return system_error("cannot set the group of", path_);
    }
  }
  const int on = 1;
  if (::chmod(path_.c_str(), mode) != 0 ||
      ::setsockopt(listener_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      ::listen(listener_.get(), kBacklog) != 0) {
    return system_error("cannot listen at", path_);
  }
  return "";
}

void SocketPath::let_go() {
  listener_.reset();
  struct stat there{};
  const ino_t made = std::exchange(inode_, 0);
  if (made != 0 && ::lstat(path_.c_str(), &there) == 0 && there.st_ino == made &&
      there.st_dev == device_) {
    ::unlink(path_.c_str());
  }
  if (!lock_) return;
  ::unlink((path_ + ".lock").c_str());
  lock_.reset();
}

SocketPath::~SocketPath() { let_go(); }

SocketPath::SocketPath(SocketPath&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::move(other.lock_)),
      listener_(std::move(other.listener_)),
      device_(other.device_),
      inode_(std::exchange(other.inode_, 0)) {}

SocketPath& SocketPath::operator=(SocketPath&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(listener_, other.listener_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

}  // namespace ttmem::legacy
