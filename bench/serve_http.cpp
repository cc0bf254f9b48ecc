// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What `ttmem serve` costs, from outside: the real daemon, real workloads, real sockets.
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "serve_daemon.hpp"
#include "tracked.hpp"

namespace {

using namespace ttmem::bench;
using namespace std::chrono_literals;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

// 32 chips and 100 processes: some on all chips, the others on one.
struct Host {
  explicit Host(int on_all)
      : mesh({"--devices", "32", "--processes", std::to_string(on_all)}),
        others({"--devices", "1", "--processes", std::to_string(std::max(1, 100 - on_all))}) {}
  bool has_started() const { return mesh.has_started() && others.has_started(); }
  Workload mesh, others;
};

// A question on an open connection, while one process allocates all the time.
void serve_snapshot(benchmark::State& state) {
  const FreshDirectory directory;
  const int on_all = static_cast<int>(state.range(0));
  const Host host(on_all);
  const Workload busy({"--scenario", "busy", "--devices", "4"});
  Daemon daemon;
  const int connection = daemon.connect();
  if (!host.has_started() || connection < 0) return state.SkipWithError("nobody answers");
  const std::string first = get(connection, "/api/v1/snapshot");
  if (count(first, "\"pid\":") < 100) return state.SkipWithError("processes are missing");
  std::vector<double> times;
  for (auto _ : state) {
    const std::uint64_t start = now_ns();
    if (get(connection, "/api/v1/snapshot").size() < first.size() / 2) {
      state.SkipWithError("half an answer");
      break;
    }
    times.push_back(static_cast<double>(now_ns() - start) / 1e6);
    std::this_thread::sleep_for(5ms);
  }
  state.counters["value"] = percentile(times, 0.5);
  if (on_all <= 4) state.counters["limit"] = 2;
  state.SetLabel(
      fmt::format("ms; median, 32 devices, 100 processes, {} of them on all devices, {} KiB",
                  on_all, first.size() / 1024));
  ::close(connection);
}
BENCHMARK(serve_snapshot)->Arg(4)->Arg(99)->ArgName("on_all")->Iterations(300);

// A thousand readers of a stream that changes all the time.
void serve_streams(benchmark::State& state) {
  const FreshDirectory directory;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  constexpr int kReaders = 1000;
  const Workload busy({"--scenario", "busy", "--devices", "8"});
  Daemon daemon;
  const int poller = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> readers;
  const std::string request = "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (int i = 0; i < kReaders; ++i) {
    const int reader = daemon.connect();
    epoll_event event{.events = EPOLLIN, .data = {.fd = reader}};
    if (reader < 0 || ::send(reader, request.data(), request.size(), 0) < 0 ||
        ::epoll_ctl(poller, EPOLL_CTL_ADD, reader, &event) != 0) {
      return state.SkipWithError("a reader cannot connect");
    }
    readers.push_back(reader);
  }
  std::vector<char> bytes(1 << 20);
  std::array<epoll_event, 256> events;
  double received = 0, ended = 0, messages = 0;
  const auto read_for = [&](std::chrono::seconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    received = messages = 0;
    while (std::chrono::steady_clock::now() < end) {
      const int ready = ::epoll_wait(poller, events.data(), events.size(), 100);
      for (int i = 0; i < ready; ++i) {
        const int reader = events[static_cast<std::size_t>(i)].data.fd;
        const ssize_t size = ::recv(reader, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (size == 0) {
          ++ended;
          ::epoll_ctl(poller, EPOLL_CTL_DEL, reader, nullptr);
        }
        if (size <= 0) continue;
        received += static_cast<double>(size);
        if (reader != readers.front()) continue;
        const std::string_view text(bytes.data(), static_cast<std::size_t>(size));
        messages += static_cast<double>(count(text, "event: delta"));
      }
    }
  };
  for (auto _ : state) {
    read_for(2s);
    const double before = daemon.child().cpu_seconds();
    const std::uint64_t start = now_ns();
    read_for(5s);
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    const double spent = daemon.child().cpu_seconds() - before;
    if (ended > 0) state.SkipWithError("readers were dropped");
    if (messages < 5) state.SkipWithError("there was hardly a delta");
    // A machine that does other things as well makes fewer of them: what ten a second cost.
    state.counters["value"] = spent / messages * 10 * 100;
    state.counters["limit"] = 50;
    state.SetLabel(
        fmt::format("% of a core; 1,000 readers, 10 deltas a second ({:.1f} were), "
                    "{:.0f} bytes each, 8 devices",
                    messages / seconds, received / messages / kReaders));
  }
  for (const int reader : readers) ::close(reader);
  ::close(poller);
}
BENCHMARK(serve_streams)->Iterations(1);

// A machine made of files with 32 devices of the driver, each with its sensors.
class DriverTree {
 public:
  DriverTree() {
    for (int node = 0; node < 32; ++node) add(node);
    ::setenv("TTMEM_HOST_ROOT", root_.c_str(), 1);
  }
  ~DriverTree() {
    ::unsetenv("TTMEM_HOST_ROOT");
    std::filesystem::remove_all(root_);
  }
  DriverTree(const DriverTree&) = delete;
  DriverTree& operator=(const DriverTree&) = delete;

 private:
  void add(int node) const {
    const std::string device = fmt::format("sys/class/tenstorrent/tenstorrent!{}", node);
    const std::string pci = fmt::format("sys/devices/pci0000:00/0000:{:02x}:00.0", node + 1);
    for (const char* name : {"temp1_input", "power1_input", "in0_input", "curr1_input"}) {
      write(fmt::format("{}/hwmon/hwmon{}/{}", pci, node, name), "45300");
    }
    write(pci + "/device", "0x401e");
    write(device + "/tt_asic_id", fmt::format("{:016X}", 0xA0 + node));
    write(device + "/tt_serial", fmt::format("010001451170{:04}", node));
    write(device + "/tt_card_type", "n300");
    for (const char* name : {"tt_aiclk", "tt_axiclk", "tt_arcclk", "tt_heartbeat"}) {
      write(device + "/" + name, "1000");
    }
    std::filesystem::create_directory_symlink(root_ / pci, root_ / device / "device");
    write(fmt::format("proc/driver/tenstorrent/{}/pids", node), "");
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / fmt::format("ttmem-bench-host.{}", ::getpid());
};

// Nobody asks, nothing happens.
void serve_idle(benchmark::State& state) {
  const FreshDirectory directory;
  const DriverTree driver;
  const Workload host({"--devices", "32"});
  Daemon daemon;
  for (auto _ : state) {
    std::this_thread::sleep_for(3s);
    const double before = daemon.child().cpu_seconds();
    std::this_thread::sleep_for(15s);
    state.counters["value"] = (daemon.child().cpu_seconds() - before) / 15 * 100;
    state.counters["limit"] = 0.2;
    state.counters["resident"] = daemon.child().resident_mib();
    state.counters["resident_limit"] = 40;
    state.SetLabel(
        "% of a core; 32 devices, one process, nobody asks; the same again of the driver");
  }
}
BENCHMARK(serve_idle)->Iterations(1);

// kill -9, start, right totals.
void serve_restart(benchmark::State& state) {
  const FreshDirectory directory;
  const Host host(4);
  std::vector<double> times;
  for (auto _ : state) {
    const std::uint64_t start = now_ns();
    Daemon daemon;
    const int connection = daemon.connect();
    const std::string answer = get(connection, "/api/v1/snapshot");
    times.push_back(static_cast<double>(now_ns() - start) / 1e6);
    ::close(connection);
    // Each process of the workload holds the same.
    if (count(answer, "\"alive\":true") != 100 || count(answer, "\"processes\":100,") != 1) {
      state.SkipWithError("not everybody is counted");
    }
  }
  state.counters["value"] = *std::max_element(times.begin(), times.end());
  state.counters["limit"] = 1000;
  state.SetLabel("ms; from start to the right totals, worst of 10, 32 devices, 100 processes");
}
BENCHMARK(serve_restart)->Iterations(10);

}  // namespace
