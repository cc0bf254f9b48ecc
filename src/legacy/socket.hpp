// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's socket on the event loop. Clients are named by the kernel, their end is noticed
// through a process descriptor, and no peer can make another wait: whoever sends garbage, half
// messages or without end, or does not take its answers, is served in turns or closed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file_descriptor.hpp"
#include "legacy/connection.hpp"
#include "legacy/service.hpp"
#include "legacy/socket_path.hpp"
#include "loop/loop.hpp"

namespace ttmem::legacy {

struct SocketOptions {
  std::string path = "/tmp/tt_allocation_server.sock";
  mode_t mode = 0660;
  std::string group;  // "" = the daemon's own
  // Further ones are closed at once, and never more than three quarters of the descriptors. One
  // owner has a quarter of what the others leave.
  std::size_t most_connections = 16 * 1024;
  int inherited = -1;  // a listening socket that a service manager made
};

class Socket {
 public:
  // All three outlive it.
  Socket(loop::Loop& loop, Service& service, SocketOptions options);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // Starts to listen, after it took over what an earlier daemon left. Says why not, if it cannot:
  // for instance because another server has the path.
  std::optional<std::string> open();

  struct Counts {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;  // too many connections, of all or of one owner
    std::uint64_t broken = 0;   // closed because they did not speak the protocol
  };
  const Counts& counts() const { return counts_; }
  std::size_t connections() const { return connections_.size(); }

 private:
  using Connections = std::unordered_map<int, std::unique_ptr<Connection>>;

  // Of this moment. An owner whose connections took more of it than their share waits for the next.
  struct Spent {
    Connection::Clock::time_point since;
    Connection::Clock::duration time{};
  };

  void accept();
  bool may_connect(std::uint32_t owner) const;
  bool has_time(std::uint32_t owner);
  void hold(Connection& connection);
  void release_held();
  void make_room();
  void on_ready(int descriptor, loop::Loop::Ready ready);
  void read(Connection& connection, std::size_t bytes);
  void watch(Connection& connection);
  void turn(Connection& connection, loop::Loop::Ready ready);
  void close(int descriptor);
  void refuse(Connection& connection);
  void watch_clients(const Connection& connection);
  void watch_client(Client& client);
  void on_exit(std::int32_t pid);
  void exit_later(std::int32_t pid);
  void bury_gone(const Connection& connection);
  void await_silence();
  void look_for_silence();
  void look_for_stalled();

  loop::Loop& loop_;
  Service& service_;
  SocketOptions options_;
  std::optional<SocketPath> path_;
  int listener_ = -1;
  FileDescriptor spare_;  // given up for a moment when there are no descriptors left
  Connections connections_;
  std::map<std::uint32_t, std::size_t> connections_of_;  // by owner
  std::map<std::uint32_t, Spent> spent_;                 // by owner
  std::vector<int> held_;
  loop::Loop::TimerId silence_timer_ = 0;
  loop::Loop::TimerId stalled_timer_ = 0;
  loop::Loop::TimerId held_timer_ = 0;
  loop::Loop::TimerId left_out_timer_ = 0;
  Counts counts_;
};

}  // namespace ttmem::legacy
