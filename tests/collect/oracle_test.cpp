// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Several users in one directory. A victim records; a stranger, who is another user for the kernel
// too, puts there whatever comes to mind: segments in which words were replaced, claims to be
// somebody else, pipes, links, sockets, holes, floods; a third user and a daemon look. Whatever it
// is, the victim's figures stay what they are, every look ends soon, memory stays bounded, and
// nothing of the victim's is removed. In the long test several cases are there at once, each with a
// file of its own. A seed that fails is printed, and can be repeated from a case on, one by one:
//
//   TTMEM_ORACLE_SEED=7 TTMEM_ORACLE_FIRST=400 TTMEM_ORACLE_CASES=32 TTMEM_ORACLE_TOGETHER=1
//   bin/test_collect --gtest_filter='Oracle*'
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/collector.hpp"
#include "collect/directories.hpp"
#include "collect/gc.hpp"
#include "collect/stranger.hpp"
#include "segment/segment_builder.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using ledger::Space;
using support::Attack;
using support::buffer_payload;
using support::Child;
using support::SegmentBuilder;
using support::Stranger;
using support::TemporaryDirectory;

constexpr std::uint64_t kVictimBytes = 12 * 4096;
constexpr std::uint64_t kCapacity = 12ull << 30;
constexpr double kLookSeconds = 60;  // of the processor: only one that hangs takes so long
constexpr long kMostKiB = 256 << 10;
constexpr uid_t kVictimUser = 4711, kThirdUser = 4712;
constexpr uid_t kStrangerUser = 4714, kNobody = 65534;
constexpr gid_t kGroup = 4713;  // may read what is recorded, as in a host-wide install
constexpr std::uint64_t kCasesOfOneReader = 256;
constexpr std::uint64_t kStepsBetweenWords = 10'000;
constexpr std::uint64_t kDetailsEvery = 33;  // looks; odd, as every step has two

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

void become(uid_t user) {
  if (::setresgid(kGroup, kGroup, kGroup) != 0 || ::setresuid(user, user, user) != 0) ::_exit(1);
}

// ---- those who look ----------------------------------------------------------------------------

class Looker {
 public:
  explicit Looker(std::string directory) : directory_(std::move(directory)) { start_again(); }

  void start_again() {
    Options options;
    options.directories = {directory_};
    options.events = true;
    collector_ = std::make_unique<Collector>(options);
  }
  // "" or what is wrong. Details cost more than all else: they are asked for at some looks.
  std::string look() {
    const std::clock_t start = std::clock();
    collector_->refresh();
    std::string wrong = victim();
    if (++looks_ % kDetailsEvery == 0) ask_everything();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (wrong.empty() && seconds > kLookSeconds) wrong = fmt::format("a look took {} s", seconds);
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    if (wrong.empty() && !support::kSanitized && used.ru_maxrss > kMostKiB) {
      wrong = fmt::format("{} MiB of memory", used.ru_maxrss >> 10);
    }
    return wrong;
  }
  // How many of these it follows as processes, and has found to be none.
  struct Read {
    std::uint64_t followed = 0, refused = 0;
  };
  Read count_read(const std::set<std::string>& names) const {
    const auto is_process = [&](const ledger::ProcessView& process) {
      return names.contains(process.segment);
    };
    const auto is_refused = [&](const Unreadable& file) {
      return names.contains(file.path.substr(directory_.size() + 1));
    };
    const auto followed = std::ranges::count_if(collector_->snapshot().processes, is_process);
    const auto refused = std::ranges::count_if(collector_->unreadable(), is_refused);
    return {static_cast<std::uint64_t>(followed), static_cast<std::uint64_t>(refused)};
  }

 private:
  std::string victim() const {
    const ledger::Snapshot& snapshot = collector_->snapshot();
    const ledger::ProcessView* found = nullptr;
    for (const ledger::ProcessView& process : snapshot.processes) {
      if (process.uid == kVictimUser && process.alive) {
        if (found != nullptr) return "there are two of the victim";
        found = &process;
      }
    }
    if (found == nullptr) return "the victim is gone";
    if (found->devices.size() != 1) return "the victim has not one device";
    const ledger::ProcessDeviceView& on = found->devices[0];
    if (on.figures.space(Space::kDram).taken != kVictimBytes) return "the victim's bytes changed";
    if (!on.counts()) return "the victim is not believed";
    if (on.id != 0) return "the victim's chip has another number";
    for (const ledger::DeviceView& device : snapshot.devices) {
      if (device.id != on.id) continue;
      const ledger::SpaceFigures& dram = device.figures.space(Space::kDram);
      if (dram.capacity != kCapacity) return "the chip has another size";
      if (dram.taken.value_or(0) < kVictimBytes) return "the chip holds less than the victim";
      if (dram.taken.value_or(0) > 2 * kCapacity) return "the chip holds more than there is";
      return dram.peak.value_or(0) > 2 * kCapacity ? "the chip holds more than there is" : "";
    }
    return "the victim's chip is gone";
  }
  void ask_everything() const {
    collector_->holdings([](const ledger::HoldingView&) {});
    collector_->programs();
    collector_->take_events();
    for (const ledger::DeviceView& device : collector_->snapshot().devices) {
      collector_->cores(device.id, true);
      collector_->banks(device.id);
    }
  }
  std::string directory_;
  std::unique_ptr<Collector> collector_;
  std::uint64_t looks_ = 0;
};

class OracleOfUsers : public ::testing::Test {
 protected:
  // As many cases are there at once.
  void run(std::uint64_t cases, std::uint64_t together) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be several users at once";
    seed_ = number_from("TTMEM_ORACLE_SEED", std::random_device()());
    next_ = number_from("TTMEM_ORACLE_FIRST", 0);
    end_ = next_ + number_from("TTMEM_ORACLE_CASES", cases);
    together_ = std::max<std::uint64_t>(number_from("TTMEM_ORACLE_TOGETHER", together), 1);
    fmt::print(stderr, "seed {}, {} cases, {} at once\n", seed_, end_ - next_, together_);
    ASSERT_EQ(::chown(directory_.path().c_str(), 0, kGroup), 0);
    ASSERT_EQ(::chmod(directory_.path().c_str(), 03777), 0);
    record_and_die();
    Child victim([&](const auto& ready) {
      become(kVictimUser);
      SegmentBuilder builder(directory_ / "ttmem-1-1-0000000000000001");
      ::fchmod(builder.descriptor(), 0640);
      builder.lock();
      builder.add_usual_device(Stranger::kChip);
      builder.put(0, buffer_payload(1, 64, 4096));
      ready();
    });
    ::usleep(20'000);  // who comes later starts later
    // One whom everybody knows, and one whom nobody can tell from others, take turns.
    Child known([&](const auto& ready) { be_stranger(kStrangerUser, victim.pid(), 0, ready); });
    Child nobody([&](const auto& ready) { be_stranger(kNobody, victim.pid(), 1, ready); });
    Child third([&](const auto& ready) { be_third(ready); });
    Looker daemon(directory_.path());
    for (std::uint64_t step = 0; next_ < end_; ++step, next_ += together_) {
      if (step % steps_of_one_reader() == 0) daemon.start_again();
      one_step(step % 2 == 0 ? known : nobody, third, daemon, step);
      if (HasFailure()) {
        fmt::print(stderr, "cases {} to {} of seed {}\n", next_, next_ + together_ - 1, seed_);
        return;
      }
      if ((step + 1) % kStepsBetweenWords == 0) tell(next_ + together_);
    }
    tell(end_);
    EXPECT_GT(followed_ + refused_, there_ / 10 * 9) << "budgets cut off what was to be read";
    EXPECT_GT(followed_, there_ / 2) << "too few of them are segments";
  }

 private:
  // What a daemon must never remove: the black box of the victim, and whatever else is its own.
  void record_and_die() {
    Child gone([&](const auto& ready) {
      become(kVictimUser);
      SegmentBuilder builder(directory_ / "ttmem-9-9-0000000000000009");
      std::ofstream(directory_ / "notes") << "mine";
      ready();
    });
    gone.go_on();
    gone.kill();
  }
  void be_stranger(uid_t user, pid_t victim, std::uint64_t turn,
                   const std::function<void()>& ready) {
    become(user);
    Stranger stranger({directory_.path(), victim, kVictimUser, {}}, seed_);
    ready();
    for (std::uint64_t i = next_ + turn * together_;; i += 2 * together_) {
      for (std::uint64_t k = i; k < std::min(i + together_, end_); ++k) stranger.begin(k);
      ready();
      stranger.change();
      ready();
      stranger.clean_up();
      ready();
    }
  }
  void be_third(const std::function<void()>& ready) {
    become(kThirdUser);
    Looker looker(directory_.path());
    for (std::uint64_t look = 0;; ++look) {
      if (look % steps_of_one_reader() == 0) looker.start_again();
      ready();
      if (const std::string wrong = looker.look(); !wrong.empty()) {
        fmt::print(stderr, "a third user: {}\n", wrong);
        ::_exit(1);
      }
    }
  }
  std::uint64_t steps_of_one_reader() const {
    return std::max<std::uint64_t>(kCasesOfOneReader / together_, 1);
  }
  static bool step(Child& child) {
    child.go_on();
    return child.wait_until_ready();
  }
  void one_step(Child& stranger, Child& third, Looker& daemon, std::uint64_t number) {
    for (int half = 0; half < 2; ++half) {
      ASSERT_TRUE(step(stranger));
      ASSERT_EQ(daemon.look(), "");
      if (half == 0) count(daemon);
      // A look of another process costs more than one of ours: at three steps of 17, so that it
      // meets both strangers.
      if (number % 17 % 8 == 0) {
        ASSERT_TRUE(step(third)) << "a third user saw something else";
      }
    }
    if (number % 64 < 2) {
      collect_garbage({.directories = {directory_.path()}});
      for (const char* name :
           {"notes", "ttmem-1-1-0000000000000001", "ttmem-9-9-0000000000000009"}) {
        ASSERT_TRUE(std::filesystem::exists(directory_ / name)) << name << " was removed";
      }
    }
    ASSERT_TRUE(step(stranger));
  }
  void count(const Looker& daemon) {
    std::set<std::string> names;
    const auto listing = list_segments({directory_.path(), std::nullopt});
    for (const Found& file : listing->files) {
      if (Attack::is_name(file.name)) names.insert(file.name);
    }
    there_ += names.size();
    const Looker::Read read = daemon.count_read(names);
    followed_ += read.followed;
    refused_ += read.refused;
  }
  void tell(std::uint64_t cases) const {
    fmt::print(stderr, "{} cases of seed {}: {} segments, {} followed and {} refused\n", cases,
               seed_, there_, followed_, refused_);
  }

  TemporaryDirectory directory_;
  std::uint64_t seed_ = 0, next_ = 0, end_ = 0, together_ = 1;
  std::uint64_t there_ = 0, followed_ = 0, refused_ = 0;
};

TEST_F(OracleOfUsers, AStrangersFileChangesNothingForOthers) { run(1'000, 1); }

class CasesOracleOfUsers : public OracleOfUsers {};
TEST_F(CasesOracleOfUsers, AStrangersFileChangesNothingForOthers) { run(100'000, 1); }

class LongOracleOfUsers : public OracleOfUsers {};
TEST_F(LongOracleOfUsers, AStrangersFileChangesNothingForOthers) { run(10'000'000, 32); }

}  // namespace
}  // namespace ttmem::collect
