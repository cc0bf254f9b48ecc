// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Whose connections they are. The kernel does not name the other end of a TCP connection, but on
// this machine that end is a socket too, and the table of sockets in /proc tells its user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace ttmem::serve {

// What a user is called where owners are told apart.
std::string owner_name(std::uint32_t uid);

// One end of a connection: bytes of the address (4 or 16), in the order of the network.
struct EndAddress {
  std::string bytes;
  std::uint16_t port = 0;
};

// As the daemon sees it. The other end has the same two addresses the other way round, and no other
// socket of this machine has both.
struct ConnectionEnds {
  EndAddress peer, own;
};

class PeerOwners {
 public:
  // `proc` stands for /proc, in tests.
  explicit PeerOwners(std::string proc = "/proc") : proc_(std::move(proc)) {}

  // Takes the table as it is now: some milliseconds for thousands of sockets. A daemon whose
  // sockets come from a service manager may have a network of its own, without the peers in it:
  // then the table of process 1 is taken.
  void read(const ConnectionEnds& any);
  // The user id of the socket at the other end; nothing if it is not of this machine, or nobody has
  // it open any more.
  std::optional<std::uint32_t> find(const ConnectionEnds& ends) const;

 private:
  void read_tables(const std::string& folder);

  std::string proc_;
  std::unordered_map<std::string, std::uint32_t> owners_;  // by the two ends as in the table
};

}  // namespace ttmem::serve
