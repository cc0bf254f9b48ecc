// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Several users in one directory. A victim records; a stranger, who is another user for the kernel
// too, puts there whatever comes to mind: segments in which words were replaced, claims to be
// somebody else, pipes, links, sockets, holes, floods; a third user and a daemon look. Whatever it
// is, the victim's figures stay what they are, every look ends soon, memory stays bounded, and
// nothing of the victim's is removed. A seed that fails is printed and can be repeated:
//
//   TTMEM_ORACLE_SEED=7 TTMEM_ORACLE_CASES=1000 bin/test_collect --gtest_filter='Oracle*'
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/collector.hpp"
#include "collect/gc.hpp"
#include "collect/hostile_segment.hpp"
#include "segment/segment_builder.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using ledger::Space;
using support::buffer_payload;
using support::Bytes;
using support::Child;
using support::Mutator;
using support::SegmentBuilder;
using support::TemporaryDirectory;

constexpr std::uint64_t kChip = 0xBEEF;
constexpr std::uint64_t kVictimBytes = 12 * 4096;
constexpr std::uint64_t kCapacity = 12ull << 30;
constexpr double kLookSeconds = 60;  // of the processor: only one that hangs takes so long
constexpr long kMostKiB = 256 << 10;
constexpr uid_t kVictimUser = 4711, kThirdUser = 4712, kStrangerUser = 65534;
constexpr gid_t kGroup = 4713;  // may read what is recorded, as in a host-wide install
constexpr std::uint64_t kCasesOfOneReader = 256;
constexpr std::uint64_t kCasesBetweenWords = 100'000;
constexpr std::uint64_t kDetailsEvery = 33;  // looks; odd, as every case has two

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

void become(uid_t user) {
  if (::setresgid(kGroup, kGroup, kGroup) != 0 || ::setresuid(user, user, user) != 0) ::_exit(1);
}

// ---- the stranger ------------------------------------------------------------------------------

// Does one thing at each step, in two halves: it is there, and then it changes under the readers.
class Stranger {
 public:
  Stranger(std::string directory, std::uint64_t seed, pid_t victim)
      : directory_(std::move(directory)),
        mutator_(seed),
        victim_(victim),
        honest_(support::honest_segment(directory_ + "/template", kChip)) {}

  void begin(std::uint64_t number) {
    name_ = fmt::format("{}/ttmem-{}-1-{:016x}", directory_, 2 + mutator_.below(3), number + 2);
    bytes_ = honest_;
    switch (mutator_.below(40)) {
      case 0:
        return made(::mkfifo(name_.c_str(), 0666) == 0);
      case 1:
        return made(::mkfifo((name_ + ".adopting").c_str(), 0666) == 0);
      case 2:
        return made(
            ::symlink(mutator_.below(2) == 0 ? "/dev/zero" : "/proc/self/mem", name_.c_str()) == 0);
      case 3:
        return made(::mkdir(name_.c_str(), 0777) == 0);
      case 4:
        return listen_there();
      case 5:
        return flood();
      case 6:
        return with_hole();
      case 7:
        return steal();
      case 8:
        write_text(name_ + ".adopting", fmt::format("{} 1", victim_));
        return;
      case 9:
        return claim_the_victim();
      case 10:
        return lie_about_the_chip();
      default:
        for (std::uint64_t i = mutator_.below(4); i > 0; --i) mutator_.change(bytes_);
        return write_segment();
    }
  }
  void change() {
    if (file_ < 0) return;
    constexpr std::size_t kWidest = 8;
    const std::size_t at = std::min(mutator_.change(bytes_), bytes_.size());
    const std::size_t end = std::min(at + kWidest, bytes_.size());
    put(at, Bytes(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes_.begin() + static_cast<std::ptrdiff_t>(end)));
    if (mutator_.below(8) == 0) {
      made(::ftruncate(file_, static_cast<off_t>(mutator_.below(2 * bytes_.size()))) == 0);
    }
  }
  void clean_up() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      struct stat facts{};
      if (::lstat(entry.path().c_str(), &facts) != 0 || facts.st_uid != kStrangerUser) continue;
      std::error_code ignored;
      std::filesystem::remove(entry.path(), ignored);
    }
  }

 private:
  static void made(bool) {}  // what may not be done is tried all the same
  static void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  void put(std::uint64_t offset, const Bytes& bytes) const {
    made(::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) > 0);
  }
  // Locked, as by a process that lives, and old enough to be judged.
  void write_segment() {
    file_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_len = 1;
    ::fcntl(file_, F_OFD_SETLK, &lock);
    put(0, bytes_);
    timespec old[2] = {{1, 0}, {1, 0}};
    ::futimens(file_, old);
    ::fchmod(file_, mutator_.below(16) == 0 ? 0000 : 0644);
  }
  segment::Header& header() { return *reinterpret_cast<segment::Header*>(bytes_.data()); }
  void claim_the_victim() {
    header().subject.pid = victim_;
    header().subject.start_ticks = mutator_.below(2) == 0 ? 0 : header().subject.start_ticks;
    header().subject.uid = kVictimUser;
    if (mutator_.below(2) == 0) header().writer = header().subject;
    write_segment();
  }
  // Of the same chip, larger or full, and before everybody else if that could be believed.
  void lie_about_the_chip() {
    segment::Identity& subject = header().subject;
    if (mutator_.below(2) == 0) subject.pid_namespace += mutator_.below(3);
    if (mutator_.below(2) == 0) subject.start_ticks = mutator_.below(2);
    if (mutator_.below(4) == 0) subject.boot_id[0] ^= 1;
    const support::Places places = support::Places::compact();
    const auto at = [&](segment::SectionKind kind, std::size_t entry_bytes) {
      return bytes_.data() + places.at(kind).offset + entry_bytes;
    };
    auto* allocator = reinterpret_cast<segment::Allocator*>(
        at(segment::SectionKind::kAllocators, sizeof(segment::Allocator)));
    allocator->spaces[0].bank_bytes = ~0ull >> mutator_.below(40);
    auto* device = reinterpret_cast<segment::Device*>(
        at(segment::SectionKind::kDevices, sizeof(segment::Device)));
    if (mutator_.below(2) == 0) device->dram_bank_bytes <<= mutator_.below(32);
    write_segment();
  }
  void listen_there() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name_.size() >= sizeof address.sun_path) return;
    name_.copy(address.sun_path, name_.size());
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    made(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  void flood() {
    for (unsigned i = 0; i < 200; ++i) write_text(fmt::format("{}{:04x}", name_, i), "nonsense");
  }
  void with_hole() {
    write_segment();
    made(::ftruncate(file_, off_t{1} << 40) == 0);
  }
  // Another's file under a name of one's own, or away with it: the kernel should refuse both.
  void steal() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      const std::string path = entry.path();
      made(::link(path.c_str(), name_.c_str()) == 0);
      made(::rename(path.c_str(), (directory_ + "/stolen").c_str()) == 0);
      made(::unlink(path.c_str()) == 0);
      made(::truncate(path.c_str(), 0) == 0);
    }
  }

  std::string directory_;
  Mutator mutator_;
  pid_t victim_;
  Bytes honest_, bytes_;
  std::string name_;
  int file_ = -1, socket_ = -1;
};

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
    for (const ledger::DeviceView& device : snapshot.devices) {
      if (device.id != on.id) continue;
      const ledger::SpaceFigures& dram = device.figures.space(Space::kDram);
      if (dram.capacity != kCapacity) return "the chip has another size";
      if (dram.taken.value_or(0) < kVictimBytes) return "the chip holds less than the victim";
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
  void run(std::uint64_t cases) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be several users at once";
    const std::uint64_t seed = number_from("TTMEM_ORACLE_SEED", std::random_device()());
    cases = number_from("TTMEM_ORACLE_CASES", cases);
    fmt::print(stderr, "seed {}, {} cases\n", seed, cases);
    ASSERT_EQ(::chown(directory_.path().c_str(), 0, kGroup), 0);
    ASSERT_EQ(::chmod(directory_.path().c_str(), 03777), 0);
    record_and_die();
    Child victim([&](const auto& ready) {
      become(kVictimUser);
      SegmentBuilder builder(directory_ / "ttmem-1-1-0000000000000001");
      ::fchmod(builder.descriptor(), 0640);
      builder.lock();
      builder.add_usual_device(kChip);
      builder.put(0, buffer_payload(1, 64, 4096));
      ready();
    });
    ::usleep(20'000);  // who comes later starts later
    Child stranger([&](const auto& ready) { be_stranger(seed, victim.pid(), cases, ready); });
    Child third([&](const auto& ready) { be_third(ready); });
    Looker daemon(directory_.path());
    for (std::uint64_t i = 0; i < cases && !HasFailure(); ++i) {
      if (i % kCasesOfOneReader == 0) daemon.start_again();
      one_case(stranger, third, daemon, i);
      if (HasFailure()) fmt::print(stderr, "case {} of seed {}\n", i, seed);
      if ((i + 1) % kCasesBetweenWords == 0) {
        fmt::print(stderr, "{} cases of seed {}\n", i + 1, seed);
      }
    }
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
  void be_stranger(std::uint64_t seed, pid_t victim, std::uint64_t cases,
                   const std::function<void()>& ready) {
    become(kStrangerUser);
    Stranger stranger(directory_.path(), seed, victim);
    ready();
    for (std::uint64_t i = 0; i < cases; ++i) {
      stranger.begin(i);
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
      if (look % kCasesOfOneReader == 0) looker.start_again();
      ready();
      if (const std::string wrong = looker.look(); !wrong.empty()) {
        fmt::print(stderr, "a third user: {}\n", wrong);
        ::_exit(1);
      }
    }
  }
  static bool step(Child& child) {
    child.go_on();
    return child.wait_until_ready();
  }
  void one_case(Child& stranger, Child& third, Looker& daemon, std::uint64_t number) {
    for (int half = 0; half < 2; ++half) {
      ASSERT_TRUE(step(stranger));
      ASSERT_EQ(daemon.look(), "");
      // A look of another process costs more than one of ours: at every eighth case.
      if (number % 8 == 0) {
        ASSERT_TRUE(step(third)) << "a third user saw something else";
      }
    }
    if (number % 64 == 0) {
      collect_garbage({.directories = {directory_.path()}});
      for (const char* name :
           {"notes", "ttmem-1-1-0000000000000001", "ttmem-9-9-0000000000000009"}) {
        ASSERT_TRUE(std::filesystem::exists(directory_ / name)) << name << " was removed";
      }
    }
    ASSERT_TRUE(step(stranger));
  }

  TemporaryDirectory directory_;
};

TEST_F(OracleOfUsers, AStrangersFileChangesNothingForOthers) { run(1'000); }

class CasesOracleOfUsers : public OracleOfUsers {};
TEST_F(CasesOracleOfUsers, AStrangersFileChangesNothingForOthers) { run(100'000); }

class LongOracleOfUsers : public OracleOfUsers {};
TEST_F(LongOracleOfUsers, AStrangersFileChangesNothingForOthers) { run(10'000'000); }

}  // namespace
}  // namespace ttmem::collect
