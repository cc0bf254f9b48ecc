// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/peer_owners.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace ttmem::serve {
namespace {

constexpr std::size_t kMostSockets = 1 << 17;

// By number, from 0; "" if there are fewer.
std::string_view field(std::string_view line, int number) {
  for (;; --number) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find(' '));
    if (number == 0) return word;
    line.remove_prefix(word.size());
  }
}
constexpr int kLocalField = 1, kRemoteField = 2, kUserField = 7, kInodeField = 9;

// Words of four bytes, each as a number of this machine.
std::string table_text(std::string_view bytes, std::uint16_t port) {
  std::string text;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    text += fmt::format("{:08X}", word);
  }
  return text + fmt::format(":{:04X}", port);
}

std::string mapped(const std::string& four) {
  return std::string(10, '\0') + std::string(2, '\xff') + four;
}

std::string table_key(std::string_view local, std::string_view remote) {
  return fmt::format("{} {}", local, remote);
}

std::string table_key(const ConnectionEnds& ends) {
  return table_key(table_text(ends.peer.bytes, ends.peer.port),
                   table_text(ends.own.bytes, ends.own.port));
}

}  // namespace

std::string owner_name(std::uint32_t uid) { return fmt::format("user {}", uid); }

void PeerOwners::read(const ConnectionEnds& any) {
  owners_.clear();
  read_tables(proc_ + "/self/net/");
  if (!find(any)) read_tables(proc_ + "/1/net/");
}

void PeerOwners::read_tables(const std::string& folder) {
  for (const char* name : {"tcp", "tcp6"}) {
    std::ifstream file(folder + name);
    std::string line;
    std::getline(file, line);  // names of the columns
    while (owners_.size() < kMostSockets && std::getline(file, line)) {
      // A socket that was closed stays for a while, and the table says that it is root's.
      if (field(line, kInodeField) == "0") continue;
      const std::string_view uid = field(line, kUserField);
      std::uint32_t owner = 0;
      const auto [end, failed] = std::from_chars(uid.data(), uid.data() + uid.size(), owner);
      if (failed == std::errc())
        owners_.emplace(table_key(field(line, kLocalField), field(line, kRemoteField)), owner);
    }
  }
}

std::optional<std::uint32_t> PeerOwners::find(const ConnectionEnds& ends) const {
  auto found = owners_.find(table_key(ends));
  // A socket of version 6 may have connected to an address of version 4.
  if (found == owners_.end() && ends.peer.bytes.size() == 4 && ends.own.bytes.size() == 4) {
    found = owners_.find(table_key({.peer = {mapped(ends.peer.bytes), ends.peer.port},
                                    .own = {mapped(ends.own.bytes), ends.own.port}}));
  }
  if (found == owners_.end()) return std::nullopt;
  return found->second;
}

}  // namespace ttmem::serve
