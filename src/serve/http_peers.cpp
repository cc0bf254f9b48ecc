// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http_peers.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace ttmem::serve {
namespace {

using boost::asio::ip::tcp;

// A socket of version 6 that listens for both shows a peer of version 4 as one of version 6.
EndAddress address_of(const tcp::endpoint& end) {
  EndAddress address{.bytes = "", .port = end.port()};
  const auto take = [&](const auto& bytes) { address.bytes.assign(bytes.begin(), bytes.end()); };
  const boost::asio::ip::address& ip = end.address();
  if (ip.is_v4()) {
    take(ip.to_v4().to_bytes());
  } else if (ip.to_v6().is_v4_mapped()) {
    take(boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, ip.to_v6()).to_bytes());
  } else {
    take(ip.to_v6().to_bytes());
  }
  return address;
}

}  // namespace

ConnectionEnds ends_of(const PeerEnds& ends) {
  return {.peer = address_of(ends.peer), .own = address_of(ends.own)};
}

std::vector<std::string> owners_at(const std::vector<PeerEnds>& all, PeerOwners& owners) {
  std::vector<std::string> names;
  names.reserve(all.size());
  if (!all.empty()) owners.read(ends_of(all.front()));
  for (const PeerEnds& ends : all) {
    const auto user = owners.find(ends_of(ends));
    names.push_back(user ? owner_name(*user) : ends.peer.address().to_string());
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
