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

// An address as that table writes it: bytes of the address (4 or 16), in the order of the network.
struct PeerAddress {
  std::string bytes;
  std::uint16_t port = 0;
};

class PeerOwners {
 public:
  // `proc` stands for /proc, in tests.
  explicit PeerOwners(std::string proc = "/proc") : proc_(std::move(proc)) {}

  // Takes the table as it is now: some milliseconds for thousands of sockets. A daemon whose
  // sockets come from a service manager may have a network of its own, without the peers in it:
  // then the table of process 1 is taken.
  void read(const PeerAddress& any_peer);
  // The user id of the socket at the other end; nothing if it is not of this machine, or gone.
  std::optional<std::uint32_t> find(const PeerAddress& peer) const;

 private:
  void read_tables(const std::string& folder);

  std::string proc_;
  std::unordered_map<std::string, std::uint32_t> owners_;  // by "ADDRESS:PORT" as in the table
};

}  // namespace ttmem::serve
