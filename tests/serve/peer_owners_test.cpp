// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Whose connections they are, and how many of them one owner keeps.
#include "serve/peer_owners.hpp"

#include <filesystem>
#include <fstream>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "serve/http_peers.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::serve {
namespace {

constexpr const char* kHead = "  sl  local_address rem_address   st tx_queue rx_queue tr uid\n";

class PeerOwnersTest : public testing::Test {
 protected:
  void table(const std::string& process, const std::string& name, const std::string& rows) const {
    const std::filesystem::path folder = std::filesystem::path(proc.path()) / process / "net";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / name) << kHead << rows;
  }
  static std::string row(const std::string& local, const std::string& remote, std::uint32_t uid,
                         int inode = 577) {
    return "   0: " + local + " " + remote + " 01 00000000:00000000 00:00000000 00000000  " +
           std::to_string(uid) + "        0 " + std::to_string(inode) +
           " 1 0000000049f222be 100 0 0 10 0\n";
  }
  static EndAddress loopback(std::uint16_t port) {
    return {.bytes = std::string("\x7F\0\0\1", 4), .port = port};
  }
  static ConnectionEnds from(std::uint16_t port) {
    return {.peer = loopback(port), .own = loopback(0x1C03)};
  }

  support::TemporaryDirectory proc;
};

constexpr const char* kDaemon = "0100007F:1C03";

TEST_F(PeerOwnersTest, AreInTheTableOfSockets) {
  table("self", "tcp",
        row("0100007F:D3A2", kDaemon, 1001) + "nonsense\n" + row("0100007F:D3A3", kDaemon, 1002));
  table(
      "self", "tcp6",
      row("0000000000000000FFFF00000100007F:D3A4", "0000000000000000FFFF00000100007F:1C03", 1003));
  PeerOwners owners(proc.path());
  owners.read(from(0xD3A2));
  EXPECT_EQ(owners.find(from(0xD3A2)), 1001u);
  EXPECT_EQ(owners.find(from(0xD3A3)), 1002u);
  EXPECT_EQ(owners.find(from(0xD3A4)), 1003u) << "a socket of version 6";
  EXPECT_EQ(owners.find(from(1)), std::nullopt);
}

TEST_F(PeerOwnersTest, AreNotThoseOfAnotherConnectionFromTheSamePort) {
  table("self", "tcp",
        row("0100007F:D3A2", "0100007F:0050", 1001) + row("0100007F:D3A2", kDaemon, 1002));
  PeerOwners owners(proc.path());
  owners.read(from(0xD3A2));
  EXPECT_EQ(owners.find(from(0xD3A2)), 1002u);
}

TEST_F(PeerOwnersTest, AreNobodyOfASocketThatWasClosed) {
  table("self", "tcp", row("0100007F:D3A2", kDaemon, 0, 0));
  PeerOwners owners(proc.path());
  owners.read(from(0xD3A2));
  EXPECT_EQ(owners.find(from(0xD3A2)), std::nullopt);
}

TEST_F(PeerOwnersTest, OfAServiceWithANetworkOfItsOwnAreThoseOfTheHost) {
  table("self", "tcp", "");
  table("1", "tcp", row("0100007F:D3A2", kDaemon, 1001));
  PeerOwners owners(proc.path());
  owners.read(from(0xD3A2));
  EXPECT_EQ(owners.find(from(0xD3A2)), 1001u);
}

TEST(HttpPeers, OneOwnerKeepsAQuarterOfWhatOthersLeave) {
  boost::asio::io_context context;
  std::vector<PeerPointer> peers;
  const auto come = [&](const std::string& owner, int count) {
    for (int i = 0; i < count; ++i) {
      peers.push_back(std::make_shared<Peer>(Peer{.socket = boost::asio::ip::tcp::socket(context),
                                                  .number = peers.size(),
                                                  .owner = owner}));
    }
  };
  come("user 1", 30);
  come("user 2", 4);
  const std::vector<PeerPointer> beyond = beyond_share(peers, 40);
  ASSERT_EQ(beyond.size(), 21u) << "of 36 it has 9";
  EXPECT_EQ(beyond.front()->number, 9u) << "the newest go";
}

}  // namespace
}  // namespace ttmem::serve
