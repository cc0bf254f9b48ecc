// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Every allocation, read, write, open, map, lock and clock call of a reader and of a recorder fails
// once, one after the other, until none is left. Nothing ends, no figure is wrong without saying
// so, and after the next look everything is right.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/collector.hpp"
#include "faults/failing_calls.hpp"
#include "segment/segment_builder.hpp"
#include "support/devices.hpp"
#include "support/temporary_directory.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::faults {
namespace {

using collect::Collector;
using ledger::Space;
using support::buffer_payload;
using support::SegmentBuilder;
using support::TemporaryDirectory;

constexpr std::int64_t kAfterAnyPauseNs =
    400'000'000'000;                         // files that were given up are read again
constexpr std::uint64_t kTooMany = 100'000;  // calls: the loop would never end

// One that lives and one that died.
class Host {
 public:
  Host()
      : living_(directory_ / "ttmem-1-1-0000000000000001"),
        dead_(directory_ / "ttmem-2-2-0000000000000002") {
    for (SegmentBuilder* each : {&living_, &dead_}) {
      each->add_usual_device();
      each->put(0, buffer_payload(1, 64, 1000));
    }
    living_.lock();
    dead_.header().subject.start_ticks += 1;
    dead_.header().writer = dead_.header().subject;
    dead_.flush();
  }
  void allocate() {
    ++buffers_;
    living_.put(buffers_, buffer_payload(buffers_ + 1, 64, 1000));
  }
  // "" or what is wrong.
  std::string check(const ledger::Snapshot& snapshot) const {
    if (snapshot.devices.size() != 1) return "there is not one device";
    if (snapshot.processes.size() != 2) return "there are not two processes";
    if (!snapshot.processes[0].alive) return "the living is not alive";
    if (snapshot.processes[1].alive) return "the dead is alive";
    const auto taken = snapshot.devices[0].figures.space(Space::kDram).taken;
    if (taken != 12'000 * (buffers_ + 1)) return fmt::format("taken is {}", taken.value_or(0));
    for (const ledger::ProcessView& process : snapshot.processes) {
      if (process.devices.size() != 1) return "a process has not one device";
    }
    const auto& died = snapshot.processes[1].devices[0].figures.space(Space::kDram);
    return died.taken == 12'000u ? "" : "what the dead held is not right";
  }
  std::unique_ptr<Collector> reader(bool events) const {
    collect::Options options;
    options.directories = {directory_.path()};
    options.events = events;
    return std::make_unique<Collector>(options);
  }

 private:
  TemporaryDirectory directory_;
  SegmentBuilder living_, dead_;
  std::uint32_t buffers_ = 0;
};

bool says_so(const ledger::Snapshot& snapshot) {
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (process.tracking.unsettled > 0) return true;
  }
  return !snapshot.unreadable.empty();
}

// One look in which call n fails. False: there were fewer.
bool look_with_failure(Host& host, Collector& reader, std::uint64_t n) {
  bool told = false;
  fail_at(n);
  try {
    reader.refresh();
  } catch (const std::exception&) {
    told = true;
  }
  const std::uint64_t calls = stop_failing();
  if (!told && !says_so(reader.snapshot())) {
    EXPECT_EQ(host.check(reader.snapshot()), "") << n;
  }
  advance_clocks(kAfterAnyPauseNs);
  reader.refresh();
  EXPECT_EQ(host.check(reader.snapshot()), "") << "after the next look, " << n;
  EXPECT_TRUE(reader.snapshot().unreadable.empty()) << reader.snapshot().unreadable[0] << n;
  return calls >= n;
}

TEST(NthFailure, OfTheFirstLook) {
  Host host;
  std::uint64_t n = 1;
  for (; !HasFailure() && n < kTooMany; ++n) {
    if (!look_with_failure(host, *host.reader(n % 2 == 0), n)) break;
  }
  EXPECT_GT(n, 100u);
  EXPECT_LT(n, kTooMany);
}

TEST(NthFailure, OfALookThatFindsNews) {
  Host host;
  std::uint64_t n = 1;
  const std::unique_ptr<Collector> reader = host.reader(true);
  reader->refresh();
  for (; !HasFailure() && n < kTooMany; ++n) {
    host.allocate();
    if (!look_with_failure(host, *reader, n)) break;
    reader->take_events();
  }
  EXPECT_GT(n, 20u);
}

// ---- the recorder, in a process of its own each time -------------------------------------------

constexpr int kRight = 0, kWrong = 1, kNoMore = 2;

// What a reader says of what this very process recorded.
std::string judge_recording(const std::string& directory, std::uint64_t taken) {
  Collector reader({.directories = {directory}});
  reader.refresh();
  const ledger::Snapshot& snapshot = reader.snapshot();
  if (snapshot.processes.empty()) return "";  // not recorded at all, which a reader sees
  const ledger::ProcessView& process = snapshot.processes[0];
  const ledger::Tracking& tracking = process.tracking;
  const bool labelled = tracking.unrecorded > 0 || tracking.growth_stopped || tracking.partial;
  if (labelled || !process.alive) return process.alive ? "" : "it is not alive";
  const auto& devices = snapshot.devices;
  const auto found = devices.empty() ? std::nullopt : devices[0].figures.space(Space::kDram).taken;
  return found == taken ? "" : fmt::format("{} instead of {}", found.value_or(0), taken);
}

int record_with_failure(const std::string& directory, std::uint64_t n) {
  ::setenv("TTMEM_DIR", directory.c_str(), 1);
  fail_at(n);
  const ttmem_device_t device = support::open_device();
  const ttmem_allocator_t allocator = support::open_dram_on(device);
  for (std::uint64_t id = 1; id <= 3; ++id) support::allocate(allocator, id);
  ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, 2);
  const std::uint64_t calls = stop_failing();
  const std::string wrong = judge_recording(directory, 2 * 12 * 100);
  if (!wrong.empty()) {
    fmt::print(stderr, "call {} of {} failed: {}\n", n, calls, wrong);
    return kWrong;
  }
  return calls >= n ? kRight : kNoMore;
}

TEST(NthFailure, OfARecording) {
  std::uint64_t n = 1;
  int result = kRight;
  for (; result == kRight && n < kTooMany; ++n) {
    TemporaryDirectory directory;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(record_with_failure(directory.path(), n));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status))
        << "call " << n << " failed, and the program ended by signal " << WTERMSIG(status);
    result = WEXITSTATUS(status);
  }
  EXPECT_EQ(result, kNoMore);
  EXPECT_GT(n, 10u);
}

}  // namespace
}  // namespace ttmem::faults
