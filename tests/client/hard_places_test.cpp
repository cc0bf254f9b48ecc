// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Places where a recorder could hurt its host: no room, no permission, limits, stolen descriptors.
// Each is harmless, and what was not recorded is counted.
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <fstream>

#include "client/own_process.hpp"
#include "segment/writer_directory.hpp"
#include "support/sanitized.hpp"

namespace ttmem::client {
namespace {

class HardPlaces : public OwnProcess {};

void limit(__rlimit_resource what, rlim_t value) {
  rlimit limits = {};
  getrlimit(what, &limits);
  limits.rlim_cur = value;
  setrlimit(what, &limits);
}

TEST_F(HardPlaces, AFileSizeLimitBelowASegmentTurnsRecordingOff) {
  EXPECT_EQ(run([&] {
              limit(RLIMIT_FSIZE, 1 << 20);
              CHECK_THAT(ttmem_open() == EFBIG);
              CHECK_THAT(ttmem_enabled() == 0);
              CHECK_THAT(open_device() == 0);
              CHECK_THAT(directory.files().empty());
            }),
            0);
}

TEST_F(HardPlaces, AFileSizeLimitAboveItStopsGrowthWithoutASignal) {
  EXPECT_EQ(run([&] {
              limit(RLIMIT_FSIZE, segment::kTableOffset + 1000000);
              const ttmem_device_t chip = open_device();
              const ttmem_allocator_t allocator = open_dram_on(chip);
              for (std::uint64_t i = 0; i < 30000; ++i) allocate(allocator, i);
              const TinyReader seen(ttmem_segment_path());
              const std::uint64_t held = seen.count(Kind::kBuffer);
              CHECK_THAT(held >= 4096 * 3 && held < 30000);
              CHECK_THAT(held + seen.counters().unrecorded == 30000);
              CHECK_THAT(seen.header().flags & segment::kHeaderGrowthStopped);
              CHECK_THAT(taken_on(chip) == held * 1200);
              for (std::uint64_t i = 0; i < held; ++i) ttmem_buffer_freed(allocator, 0, i);
              CHECK_THAT(taken_on(chip) == 0);
              allocate(allocator, 1);  // there is room again
              CHECK_THAT(taken_on(chip) == 1200);
            }),
            0);
}

// A tmpfs of its own, gone with the object.
class SmallTmpfs {
 public:
  SmallTmpfs(const std::string& path, const char* size) : path_(path) {
    mkdir(path.c_str(), 0700);
    mounted_ = mount("tmpfs", path.c_str(), "tmpfs", 0, size) == 0;
  }
  ~SmallTmpfs() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  SmallTmpfs(const SmallTmpfs&) = delete;
  SmallTmpfs& operator=(const SmallTmpfs&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST_F(HardPlaces, ASmallSharedMemoryKeepsRoomForOthers) {
  const std::string path = directory.path() + "/small";
  const SmallTmpfs small(path, "size=24m");
  if (!small.mounted()) GTEST_SKIP() << "may not mount a tmpfs here (needs root)";
  EXPECT_EQ(run([&] {
              setenv("TTMEM_DIR", path.c_str(), 1);
              const ttmem_device_t chip = open_device();
              const ttmem_allocator_t allocator = open_dram_on(chip);
              for (std::uint64_t i = 0; i < 400000; ++i) allocate(allocator, i);
              struct statfs left;
              CHECK_THAT(statfs(path.c_str(), &left) == 0);
              CHECK_THAT(static_cast<std::uint64_t>(left.f_bavail) * 4096 >= 16u << 20);
              const TinyReader seen(ttmem_segment_path());
              CHECK_THAT(seen.counters().unrecorded > 0);
              CHECK_THAT(seen.count(Kind::kBuffer) + seen.counters().unrecorded == 400000);
              // Somebody else fills the rest: nothing of ours touches a page that is not there.
              std::ofstream other(path + "/other");
              for (int i = 0; i < 6000; ++i) other << std::string(4096, 'x');
              other.flush();
              for (std::uint64_t i = 0; i < 100000; ++i) {
                allocate(allocator, i | 1ull << 40);
                ttmem_buffer_freed(allocator, 0, i);
              }
              CHECK_THAT(open_device(5) == 2);
              CHECK_THAT(ttmem_watermark_open(0) == 0);  // would need pages
            }),
            0);
}

std::uint64_t ring_of(const TinyReader& seen) {
  for (const segment::Section& section : seen.header().sections) {
    if (section.kind == static_cast<std::uint32_t>(segment::SectionKind::kEvents)) {
      return section.max_bytes / section.entry_bytes;
    }
  }
  return 0;
}

TEST_F(HardPlaces, TheRingIsAsLargeAsAskedForWhereThereIsRoom) {
  const std::string path = directory.path() + "/small";
  const SmallTmpfs small(path, "size=64m");
  if (!small.mounted()) GTEST_SKIP() << "may not mount a tmpfs here (needs root)";
  const auto ring_for = [&](const char* wanted, std::uint64_t expected) {
    EXPECT_EQ(run([&] {
                setenv("TTMEM_DIR", path.c_str(), 1);
                setenv("TTMEM_EVENTS", wanted, 1);
                const ttmem_allocator_t allocator = open_dram_on(open_device());
                for (std::uint64_t i = 0; i < 20000; ++i) allocate(allocator, i);
                const TinyReader seen(ttmem_segment_path());
                CHECK_THAT(ring_of(seen) == expected);
                CHECK_THAT(seen.count(Kind::kBuffer) == 20000);
                unlink(ttmem_segment_path());  // room for the next
              }),
              0)
        << wanted;
  };
  ring_for("16384", 16384);
  ring_for("100000", 65536);    // the power of two below
  ring_for("1048576", 131072);  // 8 MiB: a quarter of what may be used
  ring_for("-1", 131072);
  for (const char* odd : {"", "0", "100", "many"}) ring_for(odd, segment::kEventCapacity);
}

TEST_F(HardPlaces, AFullSharedMemoryTurnsRecordingOff) {
  const std::string path = directory.path() + "/tiny";
  const SmallTmpfs tiny(path, "size=8m");
  if (!tiny.mounted()) GTEST_SKIP() << "may not mount a tmpfs here (needs root)";
  EXPECT_EQ(run([&] {
              setenv("TTMEM_DIR", path.c_str(), 1);
              CHECK_THAT(ttmem_open() == ENOSPC);
              CHECK_THAT(open_device() == 0);
              CHECK_THAT(std::filesystem::is_empty(path));
            }),
            0);
}

TEST_F(HardPlaces, AHostThatClosesAllDescriptorsKeepsItsFiles) {
  EXPECT_EQ(run([&] {
              const ttmem_device_t chip = open_device();
              const ttmem_allocator_t allocator = open_dram_on(chip);
              const std::string hosts = directory.path() + "/hosts-file";
              const int ours = own_descriptor();
              for (int fd = 3; fd < 1100; ++fd) close(fd);
              CHECK_THAT(is_locked(ttmem_segment_path()));  // through the mapping
              const int file = open(hosts.c_str(), O_RDWR | O_CREAT, 0600);
              CHECK_THAT(dup2(file, ours) == ours);  // the host's file has our number now
              CHECK_THAT(write(file, "abc", 3) == 3);
              for (std::uint64_t i = 0; i < 20000; ++i) allocate(allocator, i);
              CHECK_THAT(std::filesystem::file_size(hosts) == 3);
              CHECK_THAT(fcntl(ours, F_GETFD) >= 0);  // and was not closed
              CHECK_THAT(is_locked(ttmem_segment_path()));
              const TinyReader seen(ttmem_segment_path());
              CHECK_THAT(seen.count(Kind::kBuffer) == 20000);
              CHECK_THAT(seen.counters().unrecorded == 0);
            }),
            0);
}

TEST_F(HardPlaces, AnUnlinkedFileIsMadeAgain) {
  EXPECT_EQ(run([&] {
              const ttmem_device_t chip = open_device();
              const ttmem_allocator_t allocator = open_dram_on(chip);
              const ttmem_workload_t workload = ttmem_workload_created(3, 1);
              ttmem_dispatched(workload, 0, 0, 0);
              for (std::uint64_t i = 0; i < 5000; ++i) allocate(allocator, i);
              const std::string before = ttmem_segment_path();
              unlink(before.c_str());
              CHECK_THAT(open_device(2) == 2);
              CHECK_THAT(ttmem_segment_path() != before);
              CHECK_THAT(is_locked(ttmem_segment_path()));
              ttmem_dispatched(workload, 0, 0, 0);
              allocate(allocator, 5000);
              ttmem_buffer_freed(allocator, 0, 0);
              const TinyReader seen(ttmem_segment_path());
              CHECK_THAT(seen.header().flags & segment::kHeaderRecreated);
              CHECK_THAT(std::string(ttmem_segment_path()).find("ttmem-") != std::string::npos);
              CHECK_THAT(seen.count(Kind::kBuffer) == 5000);
              CHECK_THAT(seen.live(Kind::kWorkload)[0].a == 2);
              CHECK_THAT(seen.header().device_count == 2);
              CHECK_THAT(taken_on(chip) == 5000 * 1200);
            }),
            0);
}

TEST_F(HardPlaces, AnUnusableDirectoryIsHarmless) {
  const std::string file = directory.path() + "/file";
  std::ofstream(file) << "x";
  EXPECT_EQ(run([&] {
              setenv("TTMEM_DIR", (file + "/below").c_str(), 1);
              const ttmem_allocator_t allocator = open_dram_on(open_device());
              CHECK_THAT(allocator == 0);
              allocate(1, 1);
              CHECK_THAT(ttmem_enabled() == 0);
              CHECK_THAT(ttmem_open() == ENOTDIR);
              setenv("TTMEM_DIR", directory.path().c_str(), 1);
              CHECK_THAT(ttmem_open() == 0);  // asked explicitly, it tries again
              CHECK_THAT(ttmem_enabled() == 1);
            }),
            0);
}

TEST_F(HardPlaces, OnlyADirectoryOfOursIsUsedUnasked) {
  segment::WriterDirectory opened;
  const std::string base = directory.path();
  EXPECT_EQ(segment::open_private_directory((base + "/new").c_str(), opened), 0);
  struct stat status;
  ASSERT_EQ(stat((base + "/new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(symlink((base + "/new").c_str(), (base + "/link").c_str()), 0);
  EXPECT_NE(segment::open_private_directory((base + "/link").c_str(), opened), 0);
  ASSERT_EQ(chmod((base + "/new").c_str(), 0777), 0);
  EXPECT_EQ(segment::open_private_directory((base + "/new").c_str(), opened), EPERM);
  if (geteuid() == 0) {
    ASSERT_EQ(chmod((base + "/new").c_str(), 0700), 0);
    ASSERT_EQ(chown((base + "/new").c_str(), 12345, 12345), 0);
    EXPECT_EQ(segment::open_private_directory((base + "/new").c_str(), opened), EPERM);
  }
}

TEST_F(HardPlaces, AHostWideDirectoryMakesFilesReadableForItsGroup) {
  ASSERT_EQ(chmod(directory.path().c_str(), 02770), 0);
  EXPECT_EQ(run([&] { CHECK_THAT(ttmem_open() == 0); }), 0);
  struct stat status;
  ASSERT_EQ(stat(only_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(HardPlaces, ADirectoryOnDiskIsFlagged) {
  constexpr long kTmpfs = 0x01021994;
  const TemporaryDirectory on_disk("/tmp");
  struct statfs system;
  ASSERT_EQ(statfs(on_disk.path().c_str(), &system), 0);
  if (system.f_type == kTmpfs) GTEST_SKIP() << "/tmp is a tmpfs";
  EXPECT_EQ(run([&] {
              setenv("TTMEM_DIR", on_disk.path().c_str(), 1);
              const int error = ttmem_open();
              CHECK_THAT(error == 0 || error == ENOSPC || error == EOPNOTSUPP);
              if (error != 0) _exit(77);
            }) % 77,
            0);
  for (const auto& file : on_disk.files()) {
    EXPECT_TRUE(TinyReader(file).header().flags & segment::kHeaderNotTmpfs);
  }
}

TEST_F(HardPlaces, ALimitOnAddressesLeavesThemToTheHost) {
  if (support::kSanitized) GTEST_SKIP() << "a sanitizer needs the addresses for itself";
  EXPECT_EQ(run([&] {
              limit(RLIMIT_AS, 4ull << 30);
              CHECK_THAT(ttmem_open() == 0);
              const TinyReader seen(ttmem_segment_path());
              CHECK_THAT(seen.header().sections[9].max_bytes < segment::kMaxTableSlots * 64);
              const ttmem_allocator_t allocator = open_dram_on(open_device());
              for (std::uint64_t i = 0; i < 20000; ++i) allocate(allocator, i);
              CHECK_THAT(taken_on(1) == 20000 * 1200);
            }),
            0);
}

}  // namespace
}  // namespace ttmem::client
