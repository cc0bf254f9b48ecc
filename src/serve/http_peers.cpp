// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http_peers.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace ttmem::serve {
namespace {

using boost::asio::ip::tcp;

PeerAddress address_of(const tcp::endpoint& peer) {
  PeerAddress address{.bytes = "", .port = peer.port()};
  if (peer.address().is_v4()) {
    const auto bytes = peer.address().to_v4().to_bytes();
    address.bytes.assign(bytes.begin(), bytes.end());
  } else {
    const auto bytes = peer.address().to_v6().to_bytes();
    address.bytes.assign(bytes.begin(), bytes.end());
  }
  return address;
}

}  // namespace

void name_owners(const std::vector<Peer*>& peers, PeerOwners& owners) {
  bool is_read = false;
  for (Peer* peer : peers) {
    if (!peer->owner.empty()) continue;
    boost::system::error_code error;
    const tcp::endpoint end = peer->socket.remote_endpoint(error);
    if (!error && !is_read) owners.read(address_of(end));
    is_read = is_read || !error;
    const auto user = error ? std::nullopt : owners.find(address_of(end));
    if (user) {
      peer->owner = fmt::format("user {}", *user);
    } else {
      peer->owner = error ? "gone" : end.address().to_string();
    }
  }
}

std::vector<Peer*> beyond_share(const std::vector<Peer*>& peers, std::size_t most) {
  std::map<std::string_view, std::size_t> count_of, kept_of;
  for (const Peer* peer : peers) ++count_of[peer->owner];
  std::vector<Peer*> beyond;
  for (Peer* peer : peers) {
    const std::size_t others = std::min(peers.size() - count_of[peer->owner], most);
    if (++kept_of[peer->owner] > (most - others + 3) / 4) beyond.push_back(peer);
  }
  return beyond;
}

}  // namespace ttmem::serve
