// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/writer_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "segment/writer_directory.hpp"

namespace ttmem::segment {
namespace {

constexpr long kTmpfsMagic = 0x01021994;
constexpr int kPopulateWrite = 23;           // MADV_POPULATE_WRITE, Linux 5.14
constexpr rlim_t kHighestDescriptor = 1024;  // a higher one would cost the kernel a large table
constexpr int kOutOfTheWay = 32;             // so far below the limit our descriptor is put
constexpr std::uint64_t kFewestSlots = 1u << 14;
constexpr std::uint64_t kShareOfAddresses = 8;  // at most an eighth of RLIMIT_AS

struct Place {
  std::uint64_t offset;
  std::uint64_t max_bytes;
};
constexpr Place kPlaces[kSections + 1] = {
    {0, sizeof(Header)},
    {kDevicesOffset, kMaxDevices * sizeof(Device)},
    {kDeviceSetsOffset, kMaxDeviceSets * sizeof(DeviceSet)},
    {kAllocatorsOffset, kMaxAllocators * sizeof(Allocator)},
    {kRingManagersOffset, kMaxRingManagers * sizeof(RingManager)},
    {kCountersOffset, sizeof(Counters)},
    {kWatermarksOffset, kMaxWatermarks * sizeof(Watermark)},
    {kFailuresOffset, kMaxFailures * sizeof(Failure)},
    {kInternedOffset, kMaxInternedBytes},
    {kEventsOffset, kMaxEventCapacity * sizeof(Event)},
    {kTableOffset, kMaxTableSlots * sizeof(Slot)},
    {kPeaksOffset, sizeof(Peaks)},
    {kListsOffset, kMaxListSlots * sizeof(Slot)},
};

bool lock_for_life(int fd) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

// Hosts use and close low numbers; a high one is less likely to be taken for theirs.
int out_of_the_way(int fd) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return fd;
  const rlim_t highest = limit.rlim_cur < kHighestDescriptor ? limit.rlim_cur : kHighestDescriptor;
  const int from = static_cast<int>(highest) - kOutOfTheWay;
  const int moved = from > fd ? fcntl(fd, F_DUPFD_CLOEXEC, from) : -1;
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

std::uint64_t random_word() {
  std::uint64_t word = 0;
  if (getrandom(&word, sizeof word, GRND_NONBLOCK) == sizeof word) return word;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_nsec) << 32 ^ static_cast<std::uint64_t>(now.tv_sec) ^
         static_cast<std::uint64_t>(getpid()) << 16;
}

}  // namespace

bool populate(void* start, std::size_t bytes) {
  if (bytes == 0 || madvise(start, bytes, kPopulateWrite) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  auto* page = static_cast<volatile char*>(start);
  for (std::size_t at = 0; at < bytes; at += 4096) page[at] = page[at];
  return true;
}

int WriterFile::create(const char* directory, std::int32_t pid, std::uint64_t start,
                       Choice choice) {
  if (const int error = open_new(directory, pid, start, choice)) return error;
  int error = map();
  if (error == 0) error = prepare(SectionKind{}, sizeof(Header));
  if (error != 0) discard();
  return error;
}

int WriterFile::open_new(const char* wanted, std::int32_t pid, std::uint64_t start, Choice choice) {
  WriterDirectory directory;
  if (const int error = open_writer_directory(wanted, directory, choice)) return error;
  nonce_ = random_word();
  char name[96];
  std::snprintf(name, sizeof name, "ttmem-%d-%llu-%016llx", pid,
                static_cast<unsigned long long>(start), static_cast<unsigned long long>(nonce_));
  std::snprintf(path_, sizeof path_, "%s/%s", directory.path, name);
  const mode_t mode = directory.group_readable ? 0640 : 0600;
  fd_ = openat(directory.fd.get(), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd_ < 0) return errno;
  struct stat status;
  struct statfs system;
  if (fchmod(fd_, mode) != 0 || fstat(fd_, &status) != 0 || fstatfs(fd_, &system) != 0 ||
      !lock_for_life(fd_)) {
    const int error = errno;
    discard();
    return error;
  }
  fd_ = out_of_the_way(fd_);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  on_tmpfs_ = system.f_type == kTmpfsMagic;
  return 0;
}

// One mapping for the largest table there may be, so that nothing ever moves. A host with a limit
// on its address space gets a smaller one, which leaves most of that space to the host.
int WriterFile::map() {
  rlimit space;
  if (getrlimit(RLIMIT_AS, &space) != 0) return errno;
  for (max_slots_ = kMaxTableSlots; max_slots_ >= kFewestSlots; max_slots_ >>= 2) {
    const std::uint64_t bytes = kTableOffset + max_slots_ * sizeof(Slot);
    if (space.rlim_cur != RLIM_INFINITY && bytes > space.rlim_cur / kShareOfAddresses) continue;
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
    if (start == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(start);
    madvise(start, bytes, MADV_DONTFORK);
    return 0;
  }
  return ENOMEM;
}

int WriterFile::leaves_room(std::uint64_t bytes) const {
  struct statvfs system;
  if (fstatvfs(fd_, &system) != 0) return errno;
  if (system.f_blocks == 0) return 0;  // a tmpfs without a limit
  const std::uint64_t total = std::uint64_t{system.f_blocks} * system.f_frsize;
  const std::uint64_t free = std::uint64_t{system.f_bavail} * system.f_frsize;
  return free >= room_to_leave(total) + bytes ? 0 : ENOSPC;
}

int WriterFile::prepare(SectionKind section, std::uint64_t bytes, std::uint64_t spare) {
  const Place place = kPlaces[index(section)];
  const std::uint64_t limit =
      section == SectionKind::kTable ? max_slots_ * sizeof(Slot) : page_up(place.max_bytes);
  std::uint64_t& ready = ready_[index(section)];
  const std::uint64_t wanted = page_up(bytes);
  if (wanted <= ready) return 0;
  if (wanted > limit) return EFBIG;
  if (const int error = leaves_room(wanted - ready + spare)) return error;
  const std::uint64_t end = place.offset + wanted;
  if (end > size_) {
    rlimit file_size;
    if (getrlimit(RLIMIT_FSIZE, &file_size) != 0 || end > file_size.rlim_cur) return EFBIG;
    if (ftruncate(fd_, static_cast<off_t>(end)) != 0) return errno;
    size_ = end;
  }
  const auto from = static_cast<off_t>(place.offset + ready);
  while (fallocate(fd_, 0, from, static_cast<off_t>(wanted - ready)) != 0) {
    if (errno != EINTR) return errno;
  }
  if (!populate(base_ + from, wanted - ready)) return errno;
  ready = wanted;
  return 0;
}

bool WriterFile::is_ours(int fd, nlink_t* links) const {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) return false;
  *links = status.st_nlink;
  return status.st_dev == device_ && status.st_ino == inode_;
}

WriterFile::Health WriterFile::check() {
  nlink_t links = 0;
  if (is_ours(fd_, &links)) return links == 0 ? Health::kGone : Health::kGood;
  fd_ = -1;  // whatever has that number now belongs to the host
  const int fd = open(path_, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return Health::kGone;
  if (!is_ours(fd, &links)) {
    close(fd);
    return Health::kGone;
  }
  fd_ = out_of_the_way(fd);
  return Health::kReopened;
}

void WriterFile::let_go() {
  if (base_ != nullptr) munmap(base_, kTableOffset + max_slots_ * sizeof(Slot));
  nlink_t links = 0;
  if (fd_ >= 0 && is_ours(fd_, &links)) close(fd_);
  *this = WriterFile();
}

void WriterFile::discard() {
  if (base_ != nullptr) munmap(base_, kTableOffset + max_slots_ * sizeof(Slot));
  nlink_t links = 0;
  if (fd_ >= 0) {
    if (device_ == 0 || is_ours(fd_, &links)) unlink(path_);
    close(fd_);
  }
  *this = WriterFile();
}

}  // namespace ttmem::segment
