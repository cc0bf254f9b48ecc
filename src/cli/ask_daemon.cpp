// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/ask_daemon.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "collect/directories.hpp"
#include "ledger/assemble.hpp"
#include "serve/local_server.hpp"
#include "view/json.hpp"

namespace ttmem::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kPatience = 1s;
constexpr std::size_t kMostBytes = view::kMostSnapshotBytes + 64 * 1024;
constexpr const char* kUsualAddress = "127.0.0.1:7171";
constexpr const char* kServiceUser = "ttmem";

class Socket {
 public:
  explicit Socket(int family)
      : descriptor_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  int descriptor() const { return descriptor_.get(); }

  // True when it is ready for this before the deadline.
  bool wait(short events, Clock::time_point deadline) const {
    pollfd entry{descriptor(), events, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    return left.count() > 0 && ::poll(&entry, 1, static_cast<int>(left.count())) == 1;
  }

 private:
  FileDescriptor descriptor_;
};

std::optional<sockaddr_in> daemon_address() {
  const char* named = std::getenv("TTMEM_SERVE");
  const bool is_named = named != nullptr && *named != '\0';
  // Who looks into a directory of their own would be told about another.
  if (!is_named && std::getenv("TTMEM_DIR") != nullptr) return std::nullopt;
  const std::string text = is_named ? named : kUsualAddress;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string host =
      text.substr(0, colon) == "localhost" ? "127.0.0.1" : text.substr(0, colon);
  std::uint16_t port = 0;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (port == 0 || ::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return std::nullopt;
  return address;
}

bool is_trusted(std::uint32_t uid) {
  if (uid == 0 || uid == ::geteuid()) return true;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  return ::getpwnam_r(kServiceUser, &entry, text.data(), text.size(), &found) == 0 &&
         found != nullptr && found->pw_uid == uid;
}

// Whose the listeners at exactly this address of the table are; the kernel tells.
std::vector<std::uint32_t> listeners_at(const char* path, const std::string& address) {
  std::ifstream table(path);
  std::vector<std::uint32_t> owners;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits;
    std::uint32_t uid = 0;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid;
    if (fields && state == "0A" && local == address) owners.push_back(uid);
  }
  return owners;
}

// Whoever would answer at this address: who listens at it, else who listens at every address.
// Somebody else's listener at another address of the same port is nothing to us.
std::vector<std::uint32_t> listeners(const sockaddr_in& address) {
  const std::uint16_t port = ntohs(address.sin_port);
  auto owners =
      listeners_at("/proc/net/tcp", fmt::format("{:08X}:{:04X}", address.sin_addr.s_addr, port));
  if (owners.empty()) {
    owners = listeners_at("/proc/net/tcp", fmt::format("{:08X}:{:04X}", 0, port));
    std::ranges::copy(listeners_at("/proc/net/tcp6", fmt::format("{:032X}:{:04X}", 0, port)),
                      std::back_inserter(owners));
  }
  return owners;
}

bool send_all(const Socket& socket, std::string_view text, Clock::time_point deadline) {
  while (!text.empty()) {
    if (!socket.wait(POLLOUT, deadline)) return false;
    const ssize_t count = ::send(socket.descriptor(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::optional<std::string> receive_all(const Socket& socket, Clock::time_point deadline) {
  std::string text;
  std::array<char, 65536> bytes;
  while (text.size() < kMostBytes && socket.wait(POLLIN, deadline)) {
    const ssize_t count = ::recv(socket.descriptor(), bytes.data(), bytes.size(), 0);
    if (count == 0) return text;
    if (count < 0) return std::nullopt;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return std::nullopt;
}

using Wanted = std::optional<ledger::ProcessSelector>;

void keep_only(const ledger::ProcessSelector& wanted, ledger::Snapshot& snapshot) {
  std::erase_if(snapshot.processes, [&](const auto& process) { return !wanted.matches(process); });
  std::set<std::uint32_t> used;
  for (const auto& process : snapshot.processes) {
    for (const auto& device : process.devices) used.insert(device.id);
  }
  std::erase_if(snapshot.devices, [&](const auto& device) { return !used.contains(device.id); });
}

}  // namespace

namespace {

// Where a daemon that serves the directories of this user listens, the shared one first.
std::vector<std::string> local_sockets() {
  const char* named = std::getenv("TTMEM_SERVE");
  if (named != nullptr && *named != '\0') {
    return *named == '/' ? std::vector<std::string>{named} : std::vector<std::string>();
  }
  std::vector<std::string> paths;
  for (const collect::Directory& each : collect::find_directories({}, "")) {
    paths.push_back(each.path + "/" + serve::kLocalSocketName);
  }
  return paths;
}

// Here the kernel tells both sides who the other one is.
std::optional<Socket> connect_locally() {
  for (const std::string& path : local_sockets()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) continue;
    std::memcpy(address.sun_path, path.data(), path.size());
    Socket socket(AF_UNIX);
    ucred daemon{};
    socklen_t size = sizeof daemon;
    if (::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) == 0 &&
        ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_PEERCRED, &daemon, &size) == 0 &&
        is_trusted(daemon.uid)) {
      return socket;
    }
  }
  return std::nullopt;
}

std::optional<Socket> connect_by_address() {
  const auto address = daemon_address();
  if (!address) return std::nullopt;
  const auto owners = listeners(*address);
  if (owners.empty() || !std::ranges::all_of(owners, is_trusted)) return std::nullopt;
  Socket socket(AF_INET);
  if (::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&*address),
                sizeof *address) != 0 &&
      errno != EINPROGRESS) {
    return std::nullopt;
  }
  return socket;
}

std::optional<Socket> connect_to_daemon() {
  auto socket = connect_locally();
  return socket ? std::move(socket) : connect_by_address();
}

}  // namespace

const char* named_daemon() {
  const char* named = std::getenv("TTMEM_SERVE");
  return named != nullptr && *named != '\0' && std::string_view(named) != "off" ? named : nullptr;
}

bool is_daemon_there() { return connect_to_daemon().has_value(); }

std::optional<std::string> ask_daemon(const std::string& path) {
  const auto socket = connect_to_daemon();
  if (!socket) return std::nullopt;
  const Clock::time_point deadline = Clock::now() + kPatience;
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
  if (!send_all(*socket, request, deadline)) return std::nullopt;
  auto answer = receive_all(*socket, deadline);
  if (!answer || !answer->starts_with("HTTP/1.1 200 ")) return std::nullopt;
  const std::size_t body = answer->find("\r\n\r\n");
  if (body == std::string::npos) return std::nullopt;
  return answer->substr(body + 4);
}

std::optional<std::uint32_t> stranger_in_its_place() {
  const auto address = daemon_address();
  const auto owners = address ? listeners(*address) : std::vector<std::uint32_t>();
  const auto stranger = std::ranges::find_if_not(owners, is_trusted);
  if (stranger == owners.end()) return std::nullopt;
  return *stranger;
}

bool is_kept_from(const collect::Collector& collector) {
  return std::ranges::any_of(collector.unreadable(), [](const collect::Unreadable& entry) {
    return entry.error.code == ErrorCode::kNotPermitted;
  });
}

namespace {

std::optional<ledger::Snapshot> daemon_snapshot(const Wanted& wanted) {
  const auto text = ask_daemon("/api/v1/snapshot");
  auto theirs = text ? view::read_snapshot(*text) : std::nullopt;
  if (theirs && wanted) keep_only(*wanted, *theirs);
  return theirs;
}

}  // namespace

namespace {

std::size_t ends_missing(const ledger::Snapshot& snapshot) {
  return static_cast<std::size_t>(std::ranges::count_if(snapshot.processes, ledger::lacks_end));
}

}  // namespace

bool complete(const collect::Collector& collector,
              const std::optional<ledger::ProcessSelector>& wanted, ledger::Snapshot& snapshot) {
  const bool kept = is_kept_from(collector);
  if (!kept && ends_missing(snapshot) == 0) return false;
  const auto theirs = daemon_snapshot(wanted);
  if (!theirs) return false;
  ledger::add_ends(*theirs, snapshot);
  return kept && ledger::add_processes(*theirs, snapshot);
}

top::Complete completer(const std::optional<ledger::ProcessSelector>& wanted) {
  struct Last {
    Clock::time_point asked;
    std::optional<ledger::Snapshot> theirs;
    std::size_t ends_missing = 0;
  };
  return [wanted, last = std::make_shared<Last>()](const collect::Collector& collector,
                                                   ledger::Snapshot& snapshot) {
    const bool kept = is_kept_from(collector);
    // Who died while it looks is seen by itself: the daemon is asked of others, once.
    const std::size_t missing = ends_missing(snapshot);
    if (!kept && missing == 0) return;
    if (kept ? Clock::now() - last->asked >= kPatience : missing > last->ends_missing) {
      last->theirs = daemon_snapshot(wanted);
      last->asked = Clock::now();
      last->ends_missing = missing;
    }
    if (!last->theirs) return;
    ledger::add_ends(*last->theirs, snapshot);
    if (kept) ledger::add_processes(*last->theirs, snapshot);
  };
}

}  // namespace ttmem::cli
