// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Who is connected over HTTP, and how connections are shared out: by owner, which is a user of this
// machine, or the address of another. For the server alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "serve/http/response.hpp"
#include "serve/http/stream_queue.hpp"
#include "serve/peer_owners.hpp"

namespace ttmem::serve {

struct Peer {
  using Clock = std::chrono::steady_clock;

  boost::asio::ip::tcp::socket socket;
  std::uint64_t number = 0;  // in the order of their coming
  std::string owner;         // "" = not looked up yet
  bool closing = false;      // it is given up
};
using PeerPointer = std::shared_ptr<Peer>;

struct Connection : Peer {
  static constexpr std::chrono::seconds kRequestTime{10};  // for a whole request

  Clock::time_point deadline = Clock::now() + kRequestTime;
  std::optional<std::optional<std::uint32_t>> user;  // peer_user(); empty = not looked up yet
  std::size_t unsent = 0;                            // bytes of its answer that are its own
};

struct Stream : Peer {
  http::StreamOptions options;
  std::shared_ptr<void> reader;  // counts it among the readers
  http::StreamQueue queue;
  bool blocked = false;  // until the socket takes more
  bool listed = false;   // among those that have something to send
};

// Both ends of a connection.
struct PeerEnds {
  boost::asio::ip::tcp::endpoint peer, own;
};

ConnectionEnds ends_of(const PeerEnds& ends);
// Whose the peers of these connections are, in the same order. Reads the table of sockets for that,
// which takes long where there are thousands.
std::vector<std::string> owners_at(const std::vector<PeerEnds>& all, PeerOwners& owners);
// Those that their owner has too many of: it may have a quarter of what the others leave of `most`,
// so that there is always room for one more. The newest go. `peers` in the order of their coming.
std::vector<PeerPointer> beyond_share(const std::vector<PeerPointer>& peers, std::size_t most);

}  // namespace ttmem::serve
