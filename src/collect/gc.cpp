// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/gc.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "collect/admission.hpp"
#include "collect/clock.hpp"
#include "collect/directories.hpp"
#include "collect/liveness.hpp"
#include "collect/procfs.hpp"
#include "segment/limits.hpp"
#include "segment/reader.hpp"

namespace ttmem::collect {

namespace {

using ledger::Ended;

constexpr std::uint64_t kSecondNs = 1'000'000'000;

// Not kept open: there may be more of them than descriptors.
struct Dead {
  GcEntry entry;
  std::optional<std::uint32_t> owner_rule;
  std::uint64_t inode = 0;
  std::uint32_t owner = 0;
  Ended ended = Ended::kDied;
  std::uint64_t since_ns = 0;  // wall clock
};

// What is kept of one user's dead, so that nobody's take the place of another's.
struct Kept {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
};

const char* name_of(const std::string& path) { return path.c_str() + path.rfind('/') + 1; }

// With the lock nobody else writes this file or ever will; the path must still name it. Names are
// never used twice, so what is checked here is what is removed.
bool lock_and_check(int directory, const segment::ReadOnlyFile& file, std::string& reason) {
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (::fcntl(file.descriptor(), F_OFD_SETLK, &lock) != 0) {
    reason = "a process still holds its lock";
    return false;
  }
  struct stat facts{};
  if (::fstatat(directory, name_of(file.path()), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
      facts.st_ino != file.inode() || facts.st_dev != file.device()) {
    reason = "its name belongs to another file by now";
    return false;
  }
  return true;
}

// Nobody writes down when a process is killed. The first remover that finds it dead makes the file
// read-only and dates it: from then on the date is when the death was noticed.
std::uint64_t noticed_dead(int directory, const segment::ReadOnlyFile& file, std::uint64_t now_ns,
                           bool dry_run) {
  struct stat facts{};
  if (::fstat(file.descriptor(), &facts) != 0) return now_ns;
  if ((facts.st_mode & S_IWUSR) == 0) return file.modified_ns();
  std::string reason;
  if (dry_run || !lock_and_check(directory, file, reason)) return now_ns;
  if (::fchmod(file.descriptor(), facts.st_mode & 0444u) != 0) return now_ns;  // not ours
  ::futimens(file.descriptor(), nullptr);
  return now_ns;
}

std::uint64_t closed_at(const segment::Header& header, const ProcFs& procfs, const Moment& now) {
  const bool same_boot = std::memcmp(procfs.boot_id().data(), header.subject.boot_id,
                                     sizeof header.subject.boot_id) == 0;
  return TickClock(header.clock, now, same_boot).wall(header.ended_ticks);
}

// By its name in the open directory: whatever becomes of the path, nothing else is removed.
void remove(int directory, Dead& dead, const std::string& why, bool dry_run, GcReport& report) {
  std::string reason;
  if (!dry_run) {
    const auto file = segment::ReadOnlyFile::open_at(directory, dead.entry.path, dead.owner_rule);
    if (!file && file.error().code == ErrorCode::kNotFound) return;  // another remover was first
    if (!file || file->inode() != dead.inode || !lock_and_check(directory, *file, reason)) {
      dead.entry.reason = !file ? file.error().message : reason;
      if (dead.entry.reason.empty()) dead.entry.reason = "its name belongs to another file by now";
      report.failed.push_back(std::move(dead.entry));
      return;
    }
    if (::unlinkat(directory, name_of(dead.entry.path), 0) != 0) {
      if (errno == ENOENT) return;  // another remover was first
      dead.entry.reason = fmt::format("it may not be removed: {}", std::strerror(errno));
      report.failed.push_back(std::move(dead.entry));
      return;
    }
  }
  dead.entry.reason = why;
  report.removed_bytes += dead.entry.bytes;
  report.removed.push_back(std::move(dead.entry));
}

std::uint64_t quarter_of_file_system(int directory) {
  struct statvfs facts{};
  if (::fstatvfs(directory, &facts) != 0) return ~0ull;
  return std::uint64_t{facts.f_blocks} * facts.f_frsize / 4;
}

// The dead of one directory, and the count of the living.
std::vector<Dead> find_dead(const Listing& listing, const ProcFs& procfs, const Moment& now,
                            bool dry_run, std::uint64_t& alive) {
  std::vector<Dead> found;
  const int directory = listing.directory.get();
  for (const Found& file : listing.files) {
    auto opened = segment::ReadOnlyFile::open_at(directory, file.path, file.owner);
    if (!opened) continue;
    auto header = segment::read_header(*opened);
    if (!header) continue;
    Liveness liveness;
    if (speaks_for_others(file, opened->owner())) liveness.trust();
    liveness.look(procfs, *header, *opened, false, now.monotonic_ns);
    if (liveness.is_unknown()) continue;
    header = segment::read_header(*opened);
    if (!header) continue;
    const Ended ended = liveness.conclude(*header);
    if (ended == Ended::kAlive) {
      ++alive;
      continue;
    }
    GcEntry entry{file.path, header->subject.pid, segment::text(header->subject.name),
                  opened->data_bytes(), ""};
    // Its own word counts as far as it can be true.
    std::uint64_t since = ended == Ended::kClosed ? closed_at(*header, procfs, now) : 0;
    if (since == 0 || since > now.wall_ns) {
      since = noticed_dead(directory, *opened, now.wall_ns, dry_run);
    }
    found.push_back({std::move(entry), file.owner, opened->inode(), opened->owner(), ended, since});
  }
  return found;
}

// The part of `all` that each owner of dead segments may fill.
std::uint64_t bytes_of_each(const std::vector<Dead>& dead, std::uint64_t all) {
  std::map<std::uint32_t, std::uint64_t> used;
  for (const Dead& one : dead) used[one.owner] += one.entry.bytes;
  std::vector<std::uint64_t> wants;
  for (const auto& [owner, bytes] : used) wants.push_back(bytes);
  return fair_share(std::move(wants), all);
}

void collect_directory(const Directory& directory, const GcOptions& options, const ProcFs& procfs,
                       const Moment& now, GcReport& report) {
  const auto listing = list_segments(directory);
  if (!listing) return;
  const int fd = listing->directory.get();
  std::vector<Dead> dead = find_dead(*listing, procfs, now, options.dry_run, report.alive);
  std::ranges::sort(dead, std::ranges::greater{}, &Dead::since_ns);  // the latest first
  const std::uint64_t most_bytes = bytes_of_each(dead, quarter_of_file_system(fd));
  std::map<std::uint32_t, Kept> kept_of;
  for (Dead& one : dead) {
    Kept& kept = kept_of[one.owner];
    const bool closed = one.ended == Ended::kClosed;
    const std::uint64_t age_s = (now.wall_ns - std::min(now.wall_ns, one.since_ns)) / kSecondNs;
    const std::uint64_t keep_s = closed ? segment::kKeepClosedSeconds : segment::kKeepDeadSeconds;
    if (options.all) {
      remove(fd, one, "asked for", options.dry_run, report);
    } else if (age_s >= keep_s) {
      remove(fd, one, closed ? "closed for a minute" : "dead for a day", options.dry_run, report);
    } else if (kept.count >= segment::kKeepDeadSegments) {
      remove(fd, one, fmt::format("more than {} dead", segment::kKeepDeadSegments), options.dry_run,
             report);
    } else if (kept.bytes + one.entry.bytes > most_bytes) {
      remove(fd, one, "dead processes fill a quarter of the file system", options.dry_run, report);
    } else {
      ++kept.count;
      kept.bytes += one.entry.bytes;
      one.entry.reason = closed ? "closed less than a minute ago" : "dead for less than a day";
      report.kept.push_back(std::move(one.entry));
    }
  }
}

}  // namespace

GcReport collect_garbage(const GcOptions& options) {
  GcReport report;
  const ProcFs procfs(options.root);
  const Moment now = Moment::now();
  for (const Directory& directory : find_directories(options.directories, options.root)) {
    collect_directory(directory, options, procfs, now, report);
  }
  return report;
}

}  // namespace ttmem::collect
