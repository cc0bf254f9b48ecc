// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/daemon_process.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "segment/writer_directory.hpp"

namespace ttmem::serve {
namespace {

constexpr const char* kName = "serve.lock";

long holder(int descriptor) {
  std::array<char, 32> text{};
  if (::pread(descriptor, text.data(), text.size() - 1, 0) <= 0) return 0;
  return std::strtol(text.data(), nullptr, 10);
}

constexpr int kFirstDescriptor = 3;
constexpr long kMostDescriptors = 16;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int family_of(int descriptor) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

RunLock::Outcome RunLock::take() {
  segment::WriterDirectory directory{};
  if (const int failed = segment::open_writer_directory(nullptr, directory); failed != 0) {
    problem_ = fmt::format(
        "there is no directory for segments: {}; set TTMEM_DIR to one that may be written",
        std::strerror(failed));
    return Outcome::kImpossible;
  }
  const std::string path = fmt::format("{}/{}", directory.path, kName);
  file_.reset(::openat(directory.fd.get(), kName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_) {
    problem_ = fmt::format("{} cannot be opened: {}", path, std::strerror(errno));
    return Outcome::kImpossible;
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    problem_ = fmt::format(
        "another `ttmem serve` (pid {}) already serves {}: use that one, or stop it first",
        holder(file_.get()), directory.path);
    return Outcome::kRunning;
  }
  // For the message above alone: the lock decides, so a stale number does no harm.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file_.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t count = ::pwrite(file_.get(), pid.data(), pid.size(), 0);
  }
  directory_ = directory.path;
  return Outcome::kTaken;
}

InheritedSockets take_inherited_sockets() {
  InheritedSockets sockets;
  const long pid = std::strtol(variable("LISTEN_PID").c_str(), nullptr, 10);
  const long count = std::strtol(variable("LISTEN_FDS").c_str(), nullptr, 10);
  std::string names = variable("LISTEN_FDNAMES");
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  // Meant for another process that we only inherited them from.
  if (pid != ::getpid()) return sockets;
  for (int i = 0; i < std::clamp(count, 0L, kMostDescriptors); ++i) {
    const int descriptor = kFirstDescriptor + i;
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    const std::string name = names.substr(0, names.find(':'));
    names.erase(0, std::min(name.size() + 1, names.size()));
    const int family = family_of(descriptor);
    if (name == "legacy" || (name != "http" && family == AF_UNIX)) {
      sockets.legacy = descriptor;
    } else if (name == "http" || family == AF_INET || family == AF_INET6) {
      sockets.http = descriptor;
    }
  }
  return sockets;
}

void tell_service_manager(std::string_view state) {
  const std::string path = variable("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // an abstract name
  const FileDescriptor channel(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  ::sendto(channel.get(), state.data(), state.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), size);
}

std::optional<std::chrono::milliseconds> watchdog_pause() {
  const long pid = std::strtol(variable("WATCHDOG_PID").c_str(), nullptr, 10);
  const long long allowed_us = std::strtoll(variable("WATCHDOG_USEC").c_str(), nullptr, 10);
  if (allowed_us <= 0 || (pid != 0 && pid != ::getpid())) return std::nullopt;
  return std::chrono::milliseconds(std::max(allowed_us / 1000 / 3, 1LL));
}

view::SelfFigures own_cost() {
  view::SelfFigures figures;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  figures.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (statm >> size >> resident) {
    figures.resident_bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return figures;
}

}  // namespace ttmem::serve
