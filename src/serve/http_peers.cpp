// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http_peers.hpp"

#include <algorithm>
#include <map>
#include <optional>

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

std::vector<std::string> owners_at(const std::vector<tcp::endpoint>& ends, PeerOwners& owners) {
  std::vector<std::string> names;
  names.reserve(ends.size());
  if (!ends.empty()) owners.read(address_of(ends.front()));
  for (const tcp::endpoint& end : ends) {
    const auto user = owners.find(address_of(end));
    names.push_back(user ? owner_name(*user) : end.address().to_string());
  }
  return names;
}

std::vector<PeerPointer> beyond_share(const std::vector<PeerPointer>& peers, std::size_t most) {
  std::map<std::string_view, std::size_t> left_of;
  for (const PeerPointer& peer : peers) ++left_of[peer->owner];
  std::vector<std::pair<std::size_t, std::string_view>> owners;
  for (const auto& [owner, count] : left_of) owners.emplace_back(count, owner);
  // Who has the most gives way first, so that nobody is cut because of what another gives up.
  std::ranges::sort(owners, std::greater());
  std::size_t all = peers.size();
  for (const auto& [count, owner] : owners) {
    const std::size_t others = std::min(all - count, most);
    const std::size_t share = std::min(count, (most - others + 3) / 4);
    all -= count - share;
    left_of[owner] = share;
  }
  std::vector<PeerPointer> beyond;
  for (const PeerPointer& peer : peers) {
    std::size_t& left = left_of[peer->owner];
    if (left == 0) {
      beyond.push_back(peer);
    } else {
      --left;
    }
  }
  return beyond;
}

}  // namespace ttmem::serve
