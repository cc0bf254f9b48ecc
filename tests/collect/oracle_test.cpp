// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A victim records, a stranger writes whatever comes to mind, and a third one looks. The stranger's
// file is a real segment in which words were replaced: sizes, counts, ids, versions and offsets, by
// the values at which mistakes happen. Whatever they are, the victim's figures stay what they are,
// every look ends soon, and memory stays bounded. A seed that fails is printed and can be repeated:
//
//   TTMEM_ORACLE_SEED=7 TTMEM_ORACLE_CASES=1000 bin/test_collect --gtest_filter='Oracle*'
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/collector.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using support::buffer_payload;
using support::Child;
using support::Meta;
using support::Payload;
using support::SegmentBuilder;
using support::TemporaryDirectory;

constexpr std::uint64_t kVictimChip = 0xBEEF;
constexpr std::uint64_t kVictimBytes = 12 * 4096;
constexpr double kCaseSeconds = 4;  // of the processor; under sanitizers too

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

using Bytes = std::vector<char>;

// A segment with a bit of everything.
Bytes honest_segment(const std::string& path) {
  SegmentBuilder builder(path, support::Places::compact());
  builder.add_usual_device(0xABC);
  const std::uint32_t cores = builder.add_blob(segment::BlobKind::kCores,
                                               std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 3, 3});
  const std::uint32_t addresses =
      builder.add_list(segment::BlobKind::kAddresses, std::vector<std::uint64_t>(16, 200'000));
  const std::uint32_t name = builder.add_string("matmul");
  std::uint32_t slot = 0;
  const auto add = [&](segment::Kind kind, unsigned flags, Payload payload) {
    payload.meta = Meta::pack(kind, true, 1, 0, flags, 4096);
    payload.set = 1;
    payload.cores = cores;
    builder.put(slot++, payload);
  };
  builder.put(slot++, buffer_payload(1, 64, 4096));
  Payload per_core = buffer_payload(2, addresses, 4096, 1);
  per_core.allocator = 1;
  add(segment::Kind::kBuffer, segment::kFlagPerCore, per_core);
  Payload program{};
  program.id = program.a = 7;
  program.operation = name;
  add(segment::Kind::kProgram, segment::kFlagLoaded, program);
  add(segment::Kind::kKernel, 0, program);
  Payload range = program;
  range.a = 110'000;
  range.operation = 0;
  add(segment::Kind::kRange, 0, range);
  Payload workload{};
  workload.id = 7;
  workload.a = workload.b = 3;
  add(segment::Kind::kWorkload, 0, workload);
  builder.put_note(segment::Note::kDeviceOpened);
  builder.header().order = 3;
  builder.flush();
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  // One word somewhere, of a size and at a place where the format has words.
  void change(Bytes& bytes) {
    static constexpr std::array<std::size_t, 4> kWidths = {1, 2, 4, 8};
    const std::size_t width = kWidths[below(4)];
    const std::size_t at = place(bytes.size()) / width * width;
    if (at + width > bytes.size()) return;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    value = other(value, bytes);
    std::memcpy(bytes.data() + at, &value, width);
  }

 private:
  // Most of the time where much depends on it.
  std::size_t place(std::size_t size) {
    switch (below(6)) {
      case 0:
        return offsetof(segment::Header, sections) + below(sizeof(segment::Header::sections));
      case 1:
        return segment::kLiveHeaderOffset + below(segment::kLiveHeaderBytes);
      case 2:
        return offsetof(segment::Header, subject) + below(2 * sizeof(segment::Identity));
      case 3:
        return below(sizeof(segment::Header));
      default:
        return sizeof(segment::Header) + below(size - sizeof(segment::Header));
    }
  }
  std::uint64_t other(std::uint64_t value, const Bytes& bytes) {
    switch (below(7)) {
      case 0:
        return 0;
      case 1:
        return ~0ull;
      case 2:
        return value + 1;
      case 3:
        return value - 1;
      case 4:
        return (1ull << below(64)) - below(2);
      case 5: {
        std::memcpy(&value, bytes.data() + below(bytes.size() - 8), sizeof value);
        return value;
      }
      default:
        return random_();
    }
  }
  std::mt19937_64 random_;
};

class OracleOfUsers : public ::testing::Test {
 protected:
  void run(std::uint64_t cases) {
    const std::uint64_t seed = number_from("TTMEM_ORACLE_SEED", std::random_device()());
    cases = number_from("TTMEM_ORACLE_CASES", cases);
    fmt::print("seed {}, {} cases\n", seed, cases);
    const Bytes honest = honest_segment(directory_ / "honest");
    ::unlink((directory_ / "honest").c_str());
    Child victim([&](const auto& ready) {
      SegmentBuilder builder(directory_ / "ttmem-1-1-0000000000000001");
      builder.lock();
      builder.add_usual_device(kVictimChip);
      builder.put(0, buffer_payload(1, 64, 4096));
      ready();
    });
    Mutator mutator(seed);
    for (std::uint64_t i = 0; i < cases && !HasFailure(); ++i) {
      if (i % 256 == 0) start_again();
      one_case(honest, mutator, i);
      if (HasFailure()) fmt::print("case {} of seed {}\n", i, seed);
    }
  }

 private:
  void start_again() {
    Options options;
    options.directories = {directory_.path()};
    options.events = true;
    collector_ = std::make_unique<Collector>(options);
  }
  // Written, looked at, changed under the reader, looked at again.
  void one_case(const Bytes& honest, Mutator& mutator, std::uint64_t number) {
    const std::string path = directory_ / fmt::format("ttmem-2-1-{:016x}", number + 2);
    SegmentFile file(path);
    Bytes bytes = honest;
    for (std::uint64_t i = mutator.below(4); i > 0; --i) mutator.change(bytes);
    const std::clock_t start = std::clock();
    for (int round = 0; round < 2; ++round) {
      file.write(bytes);
      collector_->refresh();
      check_victim();
      ask_everything();
      mutator.change(bytes);
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, kCaseSeconds);
  }
  void check_victim() const {
    for (const ledger::DeviceView& device : collector_->snapshot().devices) {
      if (device.unique_id != kVictimChip || device.arch != ledger::Arch::kWormholeB0) continue;
      EXPECT_EQ(device.figures.space(ledger::Space::kDram).taken, kVictimBytes);
      return;
    }
    ADD_FAILURE() << "the victim is gone";
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

  // The stranger's: locked, as by a process that lives, and gone after its case.
  class SegmentFile {
   public:
    explicit SegmentFile(std::string path)
        : path_(std::move(path)),
          descriptor_(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
      struct flock lock{};
      lock.l_type = F_WRLCK;
      lock.l_len = 1;
      ::fcntl(descriptor_, F_OFD_SETLK, &lock);
      timespec old[2] = {{1, 0}, {1, 0}};
      ::futimens(descriptor_, old);
    }
    ~SegmentFile() {
      ::close(descriptor_);
      ::unlink(path_.c_str());
    }
    SegmentFile(const SegmentFile&) = delete;
    SegmentFile& operator=(const SegmentFile&) = delete;
    void write(const Bytes& bytes) const {
      ASSERT_EQ(::pwrite(descriptor_, bytes.data(), bytes.size(), 0),
                static_cast<ssize_t>(bytes.size()));
    }

   private:
    std::string path_;
    int descriptor_;
  };

  TemporaryDirectory directory_;
  std::unique_ptr<Collector> collector_;
};

TEST_F(OracleOfUsers, AStrangersFileChangesNothingForOthers) { run(1'000); }

class LongOracleOfUsers : public OracleOfUsers {};

TEST_F(LongOracleOfUsers, AStrangersFileChangesNothingForOthers) { run(300'000); }

}  // namespace
}  // namespace ttmem::collect
