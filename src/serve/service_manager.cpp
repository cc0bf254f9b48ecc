// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/service_manager.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/file_descriptor.hpp"

namespace ttmem::serve {
namespace {

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

}  // namespace

InheritedSockets take_inherited_sockets() {
  InheritedSockets sockets;
  const long pid = std::strtol(variable("LISTEN_PID").c_str(), nullptr, 10);
  const long count = std::strtol(variable("LISTEN_FDS").c_str(), nullptr, 10);
  std::string names = variable("LISTEN_FDNAMES");
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
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

}  // namespace ttmem::serve
