// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The reading side, simulated: processes start, allocate, fork, exec, crash, are stopped, lose
// their files and find no room; strangers forge; files of the dead are removed; clocks jump;
// readers start again. After every step a reader looks, all sums hold, and every process is told as
// it is. A seed that fails is printed and can be repeated:
//
//   TTMEM_SIMULATION_SEED=7 TTMEM_SIMULATION_STEPS=1000 bin/test_faults
//   --gtest_filter='Simulation*'
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/collector.hpp"
#include "collect/gc.hpp"
#include "collect/hostile_segment.hpp"
#include "faults/failing_calls.hpp"
#include "faults/simulated_host.hpp"
#include "ledger/check_sums.hpp"

namespace ttmem::faults {
namespace {

using ledger::Ended;
using ledger::Space;

constexpr std::size_t kMostWriters = 12;
constexpr std::uint64_t kMostForged = 4;
constexpr std::int64_t kSecond = 1'000'000'000, kDay = 86'400 * kSecond;
constexpr std::uint64_t kStepsBetweenWords = 100'000;
constexpr uid_t kForger = 65534;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Simulation : public ::testing::Test {
 protected:
  void run(std::uint64_t steps) {
    const std::uint64_t seed = setting("TTMEM_SIMULATION_SEED", std::random_device()());
    steps = setting("TTMEM_SIMULATION_STEPS", steps);
    fmt::print(stderr, "seed {}, {} steps\n", seed, steps);
    random_.seed(seed);
    honest_ = support::honest_segment(procfs_.recordings() + "/template", 0);
    // Behind the times of files, so that no jump makes them look old.
    jump_wall_clock(-4000 * kDay);
    start_reader();
    for (std::uint64_t i = 0; i < steps && !HasFailure(); ++i) {
      const std::string what = step();
      reader_->refresh();
      const std::string wrong = check();
      if ((i + 1) % kStepsBetweenWords == 0) {
        fmt::print(stderr, "{} steps of seed {}\n", i + 1, seed);
      }
      EXPECT_EQ(wrong, "") << "step " << i << " of seed " << seed << ": " << what;
    }
    jump_wall_clock(4000 * kDay - jumped_);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void start_reader() {
    collect::Options options;
    options.directories = {procfs_.recordings()};
    options.root = procfs_.root();
    options.events = below(2) == 0;
    options.quiet_every_ms = 0;
    reader_ = std::make_unique<collect::Collector>(options);
    std::erase_if(writers_, [](const auto& writer) { return writer->unlinked(); });
    for (const auto& writer : writers_) writer->meet_new_reader();
  }

  // Of the writers that live; null: none.
  Writer* living() {
    std::vector<Writer*> all;
    for (const auto& writer : writers_) {
      if (writer->ended() == Ended::kAlive) all.push_back(writer.get());
    }
    return all.empty() ? nullptr : all[below(all.size())];
  }

  std::string step() {
    Writer* writer = living();
    const std::uint64_t what = below(100);
    if (writer == nullptr || what < 6) return start();
    if (what < 50) return allocate_or_release(*writer);
    if (what < 54) return died("crash", *writer, &Writer::crash);
    if (what < 57) return died("exec", *writer, &Writer::exec);
    if (what < 60) return died("close", *writer, &Writer::close);
    if (what < 64) return writer->fork(), "fork";
    if (what < 67) return writer->stop(), "stop";
    if (what < 70) return writer->find_no_room(), "no room";
    if (what < 72) return writer->unlink(), "unlink";
    if (what < 82) return forge();
    if (what < 86) return remove_garbage();
    if (what < 88) return start_reader(), "a new reader";
    if (what < 94) return jump_wall(), "the wall clock jumps";
    return advance_clocks(static_cast<std::int64_t>(below(3 * kSecond))), "time passes";
  }

  std::string start() {
    if (writers_.size() >= kMostWriters) {
      const std::size_t gone = below(writers_.size());
      if (!writers_[gone]->unlinked()) std::filesystem::remove(writers_[gone]->path());
      if (writers_[gone]->ended() == Ended::kAlive) writers_[gone]->crash();
      writers_.erase(writers_.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    const auto pid = static_cast<std::int32_t>(100 + starts_ % 50);
    for (const auto& writer : writers_) {
      if (writer->name().starts_with(fmt::format("ttmem-{}-", pid)) &&
          writer->ended() == Ended::kAlive) {
        ++starts_;
        return "no start";
      }
    }
    ++starts_;
    writers_.push_back(std::make_unique<Writer>(procfs_, pid, 1000 + starts_, below(3)));
    return "start";
  }
  std::string allocate_or_release(Writer& writer) {
    const auto slot = static_cast<std::uint32_t>(below(kSlots));
    if (writer.held().contains(slot)) {
      writer.release(slot);
      return "release";
    }
    writer.allocate(slot, ++ids_, 1 + below(1 << 20));
    return "allocate";
  }
  static std::string died(const char* how, Writer& writer, void (Writer::*end)()) {
    (writer.*end)();
    return how;
  }
  std::string remove_garbage() {
    collect::collect_garbage(
        {.directories = {procfs_.recordings()}, .root = procfs_.root(), .all = below(2) == 0});
    for (const auto& writer : writers_) {
      const bool lost = writer->ended() == Ended::kAlive && !writer->unlinked() &&
                        !std::filesystem::exists(writer->path());
      EXPECT_FALSE(lost) << "the file of a living process was removed";
    }
    std::erase_if(writers_, [](const auto& writer) {
      return writer->ended() != Ended::kAlive && !std::filesystem::exists(writer->path());
    });
    return "gc";
  }
  // A file of somebody else, with anything in it.
  std::string forge() {
    support::Mutator mutator(random_());
    const std::uint64_t number = below(kMostForged);
    const std::string path =
        fmt::format("{}/ttmem-{}-1-{:016x}", procfs_.recordings(), 100 + number, number);
    if (below(3) == 0) {
      std::filesystem::remove(path);
      return "unforge";
    }
    support::Bytes bytes = honest_;
    for (std::uint64_t i = below(6); i > 0; --i) mutator.change(bytes);
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (::chown(path.c_str(), kForger, kForger) != 0) std::filesystem::remove(path);
    return "forge";
  }
  void jump_wall() {
    const std::int64_t by = (static_cast<std::int64_t>(below(800)) - 400) * kDay;
    if (jumped_ + by > 2000 * kDay || jumped_ + by < -2000 * kDay) return;
    jumped_ += by;
    jump_wall_clock(by);
  }

  // "" or what is wrong.
  std::string check() const {
    const ledger::Snapshot& snapshot = reader_->snapshot();
    if (std::string wrong = ledger::check_sums(snapshot); !wrong.empty()) return wrong;
    for (const auto& writer : writers_) {
      const ledger::ProcessView* found = nullptr;
      for (const ledger::ProcessView& process : snapshot.processes) {
        if (process.segment == writer->name()) found = &process;
      }
      if (found == nullptr) {
        if (writer->unlinked() && writer->ended() != Ended::kAlive) continue;
        return writer->name() + " is not told";
      }
      if (std::string wrong = check(*writer, *found); !wrong.empty()) {
        return writer->name() + ": " + wrong;
      }
    }
    return "";
  }
  static std::string check(const Writer& writer, const ledger::ProcessView& process) {
    if (process.alive != (writer.ended() == Ended::kAlive)) return "alive or not is wrong";
    // A reader that comes after the end may find the pid in use again: then only that it ended is
    // known.
    const bool late = writer.seen_ended_by_others() && process.ended == Ended::kDied;
    if (process.ended != writer.ended() && !late) {
      return fmt::format("ended is {}, not {}", name(process.ended), name(writer.ended()));
    }
    if (process.devices.size() != 1) return "it has not one device";
    const ledger::SpaceFigures& dram = process.devices[0].figures.space(Space::kDram);
    if (dram.count != writer.held().size()) return "the number of buffers is wrong";
    if (dram.taken.value_or(0) != writer.taken()) return "the bytes are wrong";
    return process.devices[0].counts() ? "" : "it is not believed";
  }

  SimulatedProcfs procfs_;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::unique_ptr<collect::Collector> reader_;
  support::Bytes honest_;
  std::mt19937_64 random_;
  std::uint64_t starts_ = 0, ids_ = 0;
  std::int64_t jumped_ = 0;
};

TEST_F(Simulation, EveryStepIsToldAsItIs) { run(5'000); }

class LongSimulation : public Simulation {};
TEST_F(LongSimulation, EveryStepIsToldAsItIs) { run(1'000'000); }

}  // namespace
}  // namespace ttmem::faults
