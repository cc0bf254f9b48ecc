// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is replayed is what was: snapshots that were taken while recording, byte for byte.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "record/random_host.hpp"
#include "record/recorder.hpp"
#include "support/temporary_directory.hpp"
#include "view/json.hpp"

namespace ttmem::record {
namespace {

using collect::Collector;
using collect::Moment;
using support::TemporaryDirectory;
using namespace std::chrono_literals;

// Everything that a collector tells, as text.
std::string holdings_told(const Collector& collector) {
  std::string text;
  std::vector<ledger::HoldingView> holdings;
  collector.holdings([&](const ledger::HoldingView& holding) { holdings.push_back(holding); });
  view::holdings_json(collector.snapshot(), holdings, [&](std::string_view part) { text += part; });
  return text;
}

std::string told(const Collector& collector) {
  const ledger::Snapshot& snapshot = collector.snapshot();
  std::string text = view::snapshot_json(snapshot, view::JsonLayout::kPretty);
  text += holdings_told(collector);
  text += view::programs_json(snapshot, collector.programs(), view::JsonLayout::kPretty);
  text += view::origins_json(snapshot, {{}, collector.origins({})}, view::JsonLayout::kPretty);
  // A live reader turns the coarse clock of launches into time when it first sees them, and so
  // keeps the rounding of that moment: the last digits of these times are no figures.
  static const std::regex kLaunch(R"(dispatch_ns\": ?\d+)");
  static const std::regex kRate(R"("dispatches_per_second": ?[0-9.e+]+)");
  return std::regex_replace(std::regex_replace(text, kLaunch, "time"), kRate, "");
}

class ReplayTest : public ::testing::Test {
 protected:
  RecordOptions to(const std::string& name) {
    RecordOptions options;
    options.path = files_ / name;
    options.directories = {segments_.path()};
    return options;
  }
  Collector live() {
    collect::Options options;
    options.directories = {segments_.path()};
    return Collector(options);
  }
  static Collector open(const std::string& path, collect::Options options = {}) {
    auto collector = Collector::open_recording(path, options);
    if (!collector) throw std::runtime_error(collector.error().message);
    return std::move(*collector);
  }

  TemporaryDirectory segments_;
  TemporaryDirectory files_{"/tmp"};
};

// The lines in which two texts differ, a few of them.
std::string difference(const std::string& is, const std::string& should_be) {
  std::istringstream left(is);
  std::istringstream right(should_be);
  std::string a;
  std::string b;
  std::string text;
  for (int number = 1, shown = 0; shown < 4; ++number) {
    const bool more_left = static_cast<bool>(std::getline(left, a));
    const bool more_right = static_cast<bool>(std::getline(right, b));
    if (!more_left && !more_right) break;
    if (a == b && more_left == more_right) continue;
    const auto from = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    const std::size_t around = from < 30 ? 0 : from - 30;
    text += "line " + std::to_string(number) + ": " + a.substr(std::min(around, a.size()), 70) +
            " instead of " + b.substr(std::min(around, b.size()), 70) + "\n";
    ++shown;
  }
  return text;
}

// At each look of the recorder a live reader looks too. The recording then tells the same of each
// of these moments, in any order.
void compare(const std::string& path, const std::map<ledger::TimeNs, std::string>& expected,
             std::uint64_t seed) {
  auto opened = Collector::open_recording(path, {});
  ASSERT_TRUE(opened) << opened.error().message;
  Collector& collector = *opened;
  std::vector<ledger::TimeNs> times;
  for (const auto& [time, text] : expected) times.push_back(time);
  std::mt19937_64 random(seed);
  std::ranges::shuffle(times, random);
  for (const ledger::TimeNs time : times) {
    collector.replay()->seek(time);
    collector.refresh();
    ASSERT_EQ(difference(told(collector), expected.at(time)), "")
        << "seed " << seed << ", at " << time;
  }
}

// Each holding by what events say of it; times are rounded by whoever reads the clocks.
std::string held(const Collector& collector) {
  std::vector<std::string> lines;
  collector.holdings([&](const ledger::HoldingView& holding) {
    lines.push_back(fmt::format("{} {} {} {} {}\n", ledger::name(holding.kind), holding.id,
                                holding.address, holding.taken.value_or(0),
                                holding.requested.value_or(0)));
  });
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ""));
}

class EverySeed : public ReplayTest, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(EverySeed, AtEveryLookTheRecordingTellsWhatALiveReaderTold) {
  RandomHost host(segments_.path(), GetParam());
  RecordOptions options = to("random.ttm");
  options.launches = true;
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  Collector now = live();
  std::map<ledger::TimeNs, std::string> expected;
  std::mt19937_64 random(GetParam());
  for (int look = 0; look < 15; ++look) {
    host.act(static_cast<unsigned>(random() % 100 + 1));
    const Moment moment = Moment::now();
    (*recorder)->look(moment);
    now.refresh(moment);
    expected[moment.wall_ns] = told(now);
  }
  ASSERT_FALSE((*recorder)->finish());
  EXPECT_EQ((*recorder)->progress().missed, 0u);
  compare(options.path, expected, GetParam());
}

// What events carry is exact between two looks as well: after each of them.
TEST_P(EverySeed, AfterEveryEventTheRecordingHoldsWhatWasHeld) {
  auto recorder = Recorder::start(to("between.ttm"));
  ASSERT_TRUE(recorder) << recorder.error().message;
  RandomHost host(segments_.path(), GetParam());  // from its first event on
  Collector now = live();
  std::vector<std::pair<ledger::TimeNs, std::string>> expected;
  for (int i = 0; i < 300; ++i) {
    host.allocate_and_free(1);
    std::this_thread::sleep_for(20us);  // far more than clocks are read apart
    const Moment moment = Moment::now();
    now.refresh(moment);
    expected.emplace_back(moment.wall_ns, held(now));
    if (i % 40 == 39) (*recorder)->look();
  }
  ASSERT_FALSE((*recorder)->finish());
  Collector past = open(files_ / "between.ttm");
  EXPECT_LE(past.replay()->first(), expected.front().first);
  std::mt19937_64 random(GetParam());
  std::ranges::shuffle(expected, random);
  for (const auto& [time, text] : expected) {
    past.replay()->seek(time);
    past.refresh();
    ASSERT_EQ(difference(held(past), text), "") << "seed " << GetParam() << ", at " << time;
  }
}

std::uint64_t taken(const Collector& collector) {
  const ledger::DeviceFigures& figures = collector.snapshot().devices.front().figures;
  return *figures.space(ledger::Space::kDram).taken + *figures.space(ledger::Space::kL1).taken;
}

// Who stops a recording at once means what is there now too, listed a moment ago or not.
TEST_F(ReplayTest, WhatAppearedSinceTheLastLookIsInTheFile) {
  auto recorder = Recorder::start(to("run.ttm"));
  ASSERT_TRUE(recorder);
  (*recorder)->look();
  const RandomHost host(segments_.path(), 1);
  ASSERT_FALSE((*recorder)->finish());
  EXPECT_EQ((*recorder)->progress().processes, 1U);
}

std::uintmax_t bytes_of_parts(const RecordOptions& options) {
  std::uintmax_t bytes = 0;
  for (const std::string& part : parts_of(options.path, options.parts)) {
    if (std::filesystem::exists(part)) bytes += std::filesystem::file_size(part);
  }
  return bytes;
}

TEST_F(ReplayTest, ABoundIsNeverExceeded) {
  RandomHost host(segments_.path(), 11);
  RecordOptions options = to("bound.ttm");
  options.max_bytes = 2u << 20;
  options.parts = 4;
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  const std::string oldest = parts_of(options.path, options.parts).back();
  for (int look = 0; look < 2000 && !std::filesystem::exists(oldest); ++look) {
    host.allocate_and_free(4000);  // what is held fits into a part
    (*recorder)->look();
    ASSERT_LE(bytes_of_parts(options), options.max_bytes) << look;
  }
  ASSERT_TRUE(std::filesystem::exists(oldest));
  ASSERT_FALSE((*recorder)->finish());
  EXPECT_LE(bytes_of_parts(options), options.max_bytes);
}

// As on a disk that is full: what was recorded is not given up for what cannot be.
TEST_F(ReplayTest, WhereNoPartCanBeBegunThoseThatAreThereStay) {
  RandomHost host(segments_.path(), 12);
  RecordOptions options = to("stays.ttm");
  options.max_bytes = 1u << 20;
  const std::string older = parts_of(options.path, options.parts).back();
  const std::string in_the_way = options.path + ".new";
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  std::filesystem::create_directory(in_the_way);
  const auto look = [&] {
    host.allocate_and_free(4000);
    (*recorder)->look();
  };
  for (int i = 0; i < 2000 && (*recorder)->progress().problem.empty(); ++i) look();
  EXPECT_NE((*recorder)->progress().problem, "");
  for (int i = 0; i < 20; ++i) look();
  EXPECT_FALSE(std::filesystem::exists(older));
  const std::uint64_t events = (*recorder)->progress().events;
  EXPECT_GT(events, 0u);

  RecordOptions again = options;
  again.keep_old = true;
  EXPECT_FALSE(Recorder::start(again));
  EXPECT_FALSE(std::filesystem::exists(older));
  EXPECT_TRUE(Collector::open_recording(options.path, {}));

  std::filesystem::remove(in_the_way);
  std::this_thread::sleep_for(1100ms);  // it is tried again once per second
  for (int i = 0; i < 2000 && !std::filesystem::exists(older); ++i) look();
  ASSERT_FALSE((*recorder)->finish());
  EXPECT_GT((*recorder)->progress().events, events);
  EXPECT_EQ((*recorder)->progress().missed, 0u);
  for (const std::string& part : parts_of(options.path, options.parts)) {
    EXPECT_TRUE(Collector::open_recording(part, {})) << part;
  }
}

std::uint32_t largest_number(const std::string& path) {
  auto file = recording::FileReader::open(path);
  if (!file) throw std::runtime_error(file.error().message);
  std::uint32_t largest = 0;
  for (const recording::IndexEntry& block : file->blocks()) {
    largest = std::max(largest, block.header.process);
  }
  return largest;
}

// Else a recording of days would run out of numbers.
TEST_F(ReplayTest, APartNumbersTheProcessesThatAreInIt) {
  RecordOptions options = to("numbers.ttm");
  options.max_bytes = 1u << 20;
  const std::string older = parts_of(options.path, options.parts).back();
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  for (unsigned i = 0; i < 3; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      RandomHost(segments_.path(), 20 + i).allocate_and_free(10);
      ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
  RandomHost host(segments_.path(), 30);
  for (int i = 0; i < 2000 && !std::filesystem::exists(older); ++i) {
    host.allocate_and_free(4000);
    (*recorder)->look();
  }
  ASSERT_TRUE(std::filesystem::exists(older));
  ASSERT_FALSE((*recorder)->finish());
  EXPECT_EQ((*recorder)->progress().processes, 4u);
  EXPECT_EQ(largest_number(older), 4u);
  EXPECT_EQ(largest_number(options.path), 1u);
}

TEST_F(ReplayTest, NoMomentHeldMoreThanThePeak) {
  RandomHost host(segments_.path(), 7);
  const RecordOptions options = to("peak.ttm");
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  Collector now = live();
  std::uint64_t most = 0;
  for (int look = 0; look < 20; ++look) {
    host.allocate_and_free(100);
    (*recorder)->look();
    now.refresh();
    most = std::max(most, taken(now));
  }
  ASSERT_FALSE((*recorder)->finish());
  Collector past = open(options.path);
  const auto peak = collect::moment_named("peak", *past.replay());
  ASSERT_TRUE(peak) << peak.error().message;
  past.replay()->seek(*peak);
  past.refresh();
  EXPECT_GE(taken(past), most);
}

std::uint64_t taken_on_all(const Collector& collector, std::optional<ledger::Space> only) {
  std::uint64_t sum = 0;
  for (const ledger::DeviceView& device : collector.snapshot().devices) {
    for (const ledger::Space space : ledger::kDeviceSpaces) {
      if (!only || space == *only) sum += device.figures.space(space).taken.value_or(0);
    }
  }
  return sum;
}

// What is foretold of each peak is what is there, with several processes too.
TEST_F(ReplayTest, AtThePeakOfSeveralProcessesItsBytesAreHeld) {
  RandomHost one(segments_.path(), 11), other(segments_.path(), 12);
  const RecordOptions options = to("two.ttm");
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  for (int look = 0; look < 200; ++look) {
    for (int turn = 0; turn < 10; ++turn) {
      one.allocate_and_free(1);
      other.allocate_and_free(1);
    }
    (*recorder)->look();
  }
  ASSERT_FALSE((*recorder)->finish());
  Collector past = open(options.path);
  const auto outline = collect::outline_of(*past.replay(), 1);
  ASSERT_TRUE(outline) << outline.error().message;
  std::size_t peaks = 0;
  for (const collect::Mark& mark : outline->marks) {
    if (mark.kind != collect::Mark::Kind::kPeak) continue;
    past.replay()->seek(mark.time);
    past.refresh();
    EXPECT_EQ(taken_on_all(past, mark.space), mark.bytes);
    ++peaks;
  }
  EXPECT_EQ(peaks, 3u) << "DRAM, L1 and both together";
}

// Another file may have its name by then: a view of both would be of none.
TEST_F(ReplayTest, ARecordingIsOpenedByItsNameOnce) {
  RandomHost host(segments_.path(), 13);
  const RecordOptions options = to("gone.ttm");
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  host.allocate_and_free(20);
  ASSERT_FALSE((*recorder)->finish());
  const Collector past = open(options.path);
  std::filesystem::remove(options.path);
  const auto peak = collect::moment_named("peak", *past.replay());
  EXPECT_TRUE(peak) << peak.error().message;
}

TEST_F(ReplayTest, AGapIsCountedAndTheStateAfterItIsExact) {
  RandomHost host(segments_.path(), 8);
  const RecordOptions options = to("gap.ttm");
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  host.allocate_and_free(100);
  (*recorder)->look();
  host.allocate_and_free(20'000);  // more than the ring holds
  const Moment moment = Moment::now();
  (*recorder)->look(moment);
  Collector now = live();
  now.refresh(moment);
  host.allocate_and_free(50);
  (*recorder)->look();
  ASSERT_FALSE((*recorder)->finish());
  EXPECT_GE((*recorder)->progress().missed, 20'000u);
  Collector past = open(options.path);
  past.replay()->seek(past.replay()->first());
  past.refresh();
  const std::uint64_t before = taken(past);
  past.replay()->seek(moment.wall_ns);
  past.refresh();
  EXPECT_EQ(taken(past), taken(now));
  EXPECT_NE(taken(past), before);
}

// The events from one checkpoint to the next, at most.
std::uint64_t longest_way(const recording::FileReader& file) {
  std::uint64_t longest = 0;
  std::uint64_t since = 0;
  for (const recording::IndexEntry& block : file.blocks()) {
    if (recording::kind_of(block) == recording::BlockKind::kCheckpoint) since = 0;
    if (recording::kind_of(block) == recording::BlockKind::kEvents) since += block.header.count;
    longest = std::max(longest, since);
  }
  return longest;
}

TEST_F(ReplayTest, ALargeRingKeepsAllWhileTheRecorderIsHeldUp) {
  constexpr unsigned kEvents = 700'000;
  const RecordOptions options = to("large.ttm");
  auto recorder = Recorder::start(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  RandomHost host(segments_.path(), 9, 1u << 20);
  host.allocate_and_free(kEvents / 2);  // before the first look
  for (int look = 0; look < 20; ++look) (*recorder)->look();
  host.allocate_and_free(kEvents / 2);
  for (int look = 0; look < 20; ++look) (*recorder)->look();
  const Moment moment = Moment::now();
  (*recorder)->look(moment);
  Collector now = live();
  now.refresh(moment);
  ASSERT_FALSE((*recorder)->finish());
  EXPECT_EQ((*recorder)->progress().missed, 0u);
  EXPECT_GE((*recorder)->progress().events, kEvents);

  Collector past = open(options.path);
  EXPECT_LE(longest_way(past.replay()->file()), recording::kCheckpointEvents);
  past.refresh();
  EXPECT_EQ(difference(held(past), held(now)), "");
  EXPECT_GT(taken(past), 0u);
  past.replay()->seek(past.replay()->first());
  past.refresh();
  EXPECT_EQ(held(past), "");  // it begins where the process did
}

TEST_F(ReplayTest, WhatARingOfUsualSizeCouldNotKeepOfAYoungProcessIsAGap) {
  auto recorder = Recorder::start(to("young.ttm"));
  ASSERT_TRUE(recorder) << recorder.error().message;
  RandomHost host(segments_.path(), 10);
  host.allocate_and_free(20'000);
  (*recorder)->look();
  ASSERT_FALSE((*recorder)->finish());
  EXPECT_GE((*recorder)->progress().missed, 20'000u);
}

INSTANTIATE_TEST_SUITE_P(Random, EverySeed, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace ttmem::record
