// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one user of the original's socket takes is missing to no other.
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "legacy/owner_log.hpp"
#include "legacy/service.hpp"

namespace ttmem::legacy {
namespace {

using namespace std::chrono_literals;

class CountingLog final : public Log {
 public:
  void event(std::string_view) override {}
  void report(std::string_view lines) override { reported += lines.size(); }
  void error(std::string_view lines) override {
    errors += lines;
    ++error_count;
  }
  std::size_t reported = 0, error_count = 0;
  std::string errors;
};

TEST(Owners, MistakesOfOneOwnerAreCountedAndThoseOfAnotherShown) {
  CountingLog log;
  OwnerLog lines(log);
  const auto now = OwnerLog::Clock::now();
  for (int i = 0; i < 100'000; ++i) lines.error(1001, "mistake\n", now);
  EXPECT_EQ(log.error_count, 201u) << "and one line that says it";
  lines.error(1002, "another's\n", now);
  EXPECT_NE(log.errors.find("another's"), std::string::npos);
  lines.tell_left_out();
  EXPECT_NE(log.errors.find("99800 lines because of user 1001 were left out"), std::string::npos);
  EXPECT_EQ(lines.left_out(), 99'800u);
  lines.error(1001, "later\n", now + 1s);
  EXPECT_NE(log.errors.find("later"), std::string::npos);
}

TEST(Owners, DumpsOfOneOwnerAreBoundedInBytes) {
  CountingLog log;
  OwnerLog lines(log);
  const auto now = OwnerLog::Clock::now();
  const std::string dump(700'000, '\n');
  for (int i = 0; i < 900; ++i) lines.report(1001, dump, now);
  EXPECT_LE(log.reported, 4u << 20);
  EXPECT_GT(log.reported, 0u);
}

class OwnersOfEntries : public testing::Test {
 protected:
  OwnersOfEntries() {
    service.set_identify([this](std::int32_t pid) -> std::optional<segment::Identity> {
      segment::Identity who = {};
      who.pid = pid;
      who.start_ticks = 1;
      who.uid = users.at(pid);
      return who;
    });
  }
  // How many buffers of a client were taken.
  std::uint64_t fill(std::int32_t pid, std::uint64_t count) {
    Client& client = service.client(pid);
    Request request;
    request.type = Type::kAlloc;
    request.size = 1;
    for (std::uint64_t id = 1; id <= count; ++id) {
      request.id = id;
      service.apply(request, client);
    }
    return client.holdings.entries();
  }

  CountingLog log;
  Service service{{.directory = "", .write_segments = false, .most_entries = 4000}, log};
  // Processes that exist: a client's process is opened first.
  std::map<std::int32_t, std::uint32_t> users{{::getpid(), 1001}, {::getppid(), 1002}};
};

TEST_F(OwnersOfEntries, OneOwnerLeavesRoomForOthers) {
  EXPECT_EQ(fill(::getpid(), 5000), 1000u);
  EXPECT_EQ(fill(::getppid(), 5000), 750u) << "a quarter of what the first leaves";
  EXPECT_LT(log.error_count, 500u);
  service.bury(::getpid());
  EXPECT_EQ(fill(::getppid(), 5000), 1000u);
}

}  // namespace
}  // namespace ttmem::legacy
