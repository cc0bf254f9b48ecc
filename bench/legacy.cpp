// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Messages of the original's protocol through a real socket into books and segments, on one core:
// the sender's part included.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "legacy/connection.hpp"

namespace {

namespace legacy = ttmem::legacy;

class NoLog final : public legacy::Log {
 public:
  void event(std::string_view) override {}
  void report(std::string_view) override {}
  void error(std::string_view) override {}
  bool wants_events() const override { return false; }
};

// Time that this core spent on us, whatever else ran on it.
double core_ns() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) * 1e9 + static_cast<double>(spent.tv_nsec);
}

void put(std::string& stream, std::uint8_t type, std::uint64_t id) {
  std::string bytes(144, '\0');
  const std::uint64_t size = 4096;
  const std::int32_t device = static_cast<std::int32_t>(id % 8), pid = ::getpid();
  bytes[0] = static_cast<char>(type);
  std::memcpy(bytes.data() + 4, &device, 4);
  std::memcpy(bytes.data() + 8, &size, 8);
  std::memcpy(bytes.data() + 20, &pid, 4);
  std::memcpy(bytes.data() + 24, &id, 8);
  stream += bytes;
}

// 10,000 buffers live; each turn frees and allocates 200 of them.
void legacy_ingest(benchmark::State& state) {
  const bool segments = state.range(0) != 0;
  NoLog log;
  legacy::Service service({.directory = "", .write_segments = segments}, log);
  std::array<int, 2> ends{};
  const int on = 1, room = 1 << 20;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0 ||
      ::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    state.SkipWithError("no socket");
    return;
  }
  ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  legacy::Connection connection(ttmem::FileDescriptor{ends[0]}, service);
  const auto deliver = [&](const std::string& stream) {
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t piece = std::min<std::size_t>(stream.size() - at, 64 * 1024);
      const ssize_t sent = ::send(ends[1], stream.data() + at, piece, MSG_DONTWAIT);
      if (sent > 0) at += static_cast<std::size_t>(sent);
      if (connection.read(1 << 20) == legacy::Connection::Read::kBroken) std::abort();
    }
  };
  constexpr std::uint64_t kLive = 10'000, kTurn = 200;
  std::string all;
  for (std::uint64_t id = 0; id < kLive; ++id) put(all, 1, id * 4096);
  deliver(all);
  std::vector<std::string> turns;
  for (std::uint64_t first = 0; first < kLive; first += kTurn) {
    std::string& turn = turns.emplace_back();
    for (std::uint64_t id = first; id < first + kTurn; ++id) put(turn, 2, id * 4096);
    for (std::uint64_t id = first; id < first + kTurn; ++id) put(turn, 1, id * 4096);
  }
  std::size_t next = 0;
  const double started = core_ns();
  for (auto _ : state) deliver(turns[next++ % turns.size()]);
  state.counters["value"] = (core_ns() - started) / (static_cast<double>(state.iterations()) *
                                                     static_cast<double>(2 * kTurn));
  state.counters["limit"] = 2000;  // 500,000 a second
  state.SetLabel(segments ? "ns of one core; per message, with a segment"
                          : "ns of one core; per message, table alone");
  ::close(ends[1]);
}
BENCHMARK(legacy_ingest)->Arg(0)->Arg(1)->ArgName("segments");

}  // namespace
