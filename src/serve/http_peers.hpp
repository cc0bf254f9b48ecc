// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Who is connected over HTTP, and how connections are shared out: by owner, which is a user of this
// machine, or the address of another. For the server alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
};

struct Connection : Peer {
  static constexpr std::chrono::seconds kRequestTime{10};  // for a whole request

  Clock::time_point deadline = Clock::now() + kRequestTime;
  std::size_t unsent = 0;  // bytes of its answer that are its own
};

struct Stream : Peer {
  http::StreamOptions options;
  http::StreamQueue queue;
  bool blocked = false;  // until the socket takes more
};

// Fills in the owners that are not known yet; reads the table of sockets for that.
void name_owners(const std::vector<Peer*>& peers, PeerOwners& owners);
// Those that their owner has too many of: it may have a quarter of what the others leave of `most`,
// so that there is always room for one more. The newest go. `peers` in the order of their coming.
std::vector<Peer*> beyond_share(const std::vector<Peer*>& peers, std::size_t most);

}  // namespace ttmem::serve
