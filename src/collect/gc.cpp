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
#include <utility>

#include <fmt/format.h>

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

struct Dead {
  GcEntry entry;
  segment::ReadOnlyFile file;
  Ended ended = Ended::kDied;
  std::uint64_t since_ns = 0;  // wall clock
};

// With the lock nobody else writes this file or ever will; the path must still name it. Names are
// never used twice, so what is checked here is what is removed.
bool lock_and_check(const segment::ReadOnlyFile& file, std::string& reason) {
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (::fcntl(file.descriptor(), F_OFD_SETLK, &lock) != 0) {
    reason = "a process still holds its lock";
    return false;
  }
  struct stat facts{};
  if (::fstatat(AT_FDCWD, file.path().c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
      facts.st_ino != file.inode() || facts.st_dev != file.device()) {
    reason = "its name belongs to another file by now";
    return false;
  }
  return true;
}

// Nobody writes down when a process is killed. The first remover that finds it dead makes the file
// read-only and dates it: from then on the date is when the death was noticed.
std::uint64_t noticed_dead(const segment::ReadOnlyFile& file, std::uint64_t now_ns, bool dry_run) {
  struct stat facts{};
  if (::fstat(file.descriptor(), &facts) != 0) return now_ns;
  if ((facts.st_mode & S_IWUSR) == 0) return file.modified_ns();
  std::string reason;
  if (dry_run || !lock_and_check(file, reason)) return now_ns;
  if (::fchmod(file.descriptor(), facts.st_mode & 0444u) != 0) return now_ns;  // not ours
  ::futimens(file.descriptor(), nullptr);
  return now_ns;
}

std::uint64_t closed_at(const segment::Header& header, const ProcFs& procfs, const Moment& now) {
  const bool same_boot = std::memcmp(procfs.boot_id().data(), header.subject.boot_id,
                                     sizeof header.subject.boot_id) == 0;
  return TickClock(header.clock, now, same_boot).wall(header.ended_ticks);
}

void remove(Dead& dead, const std::string& why, bool dry_run, GcReport& report) {
  std::string reason;
  if (!dry_run) {
    if (!lock_and_check(dead.file, reason)) {
      dead.entry.reason = reason;
      report.failed.push_back(std::move(dead.entry));
      return;
    }
    if (::unlink(dead.entry.path.c_str()) != 0) {
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

std::uint64_t quarter_of_file_system(const std::string& directory) {
  struct statvfs facts{};
  if (::statvfs(directory.c_str(), &facts) != 0) return ~0ull;
  return std::uint64_t{facts.f_blocks} * facts.f_frsize / 4;
}

// The dead of one directory, and the count of the living.
std::vector<Dead> find_dead(const Directory& directory, const ProcFs& procfs, const Moment& now,
                            bool dry_run, std::uint64_t& alive) {
  std::vector<Dead> found;
  const auto files = list_segments(directory);
  if (!files) return found;
  for (const Found& file : *files) {
    auto opened = segment::ReadOnlyFile::open(file.path, file.owner);
    if (!opened) continue;
    auto header = segment::read_header(*opened);
    if (!header) continue;
    Liveness liveness;
    liveness.look(procfs, *header, *opened, false, now.monotonic_ns);
    header = segment::read_header(*opened);
    if (!header) continue;
    const Ended ended = liveness.conclude(*header);
    if (ended == Ended::kAlive) {
      ++alive;
      continue;
    }
    GcEntry entry{file.path, header->subject.pid, segment::text(header->subject.name),
                  opened->data_bytes(), ""};
    const std::uint64_t since = ended == Ended::kClosed
                                    ? closed_at(*header, procfs, now)
                                    : noticed_dead(*opened, now.wall_ns, dry_run);
    found.push_back({std::move(entry), std::move(*opened), ended, since});
  }
  return found;
}

void collect_directory(const Directory& directory, const GcOptions& options, const ProcFs& procfs,
                       const Moment& now, GcReport& report) {
  std::vector<Dead> dead = find_dead(directory, procfs, now, options.dry_run, report.alive);
  std::ranges::sort(dead, std::ranges::greater{}, &Dead::since_ns);  // the latest first
  const std::uint64_t most_bytes = quarter_of_file_system(directory.path);
  std::uint32_t kept = 0;
  std::uint64_t kept_bytes = 0;
  for (Dead& one : dead) {
    const bool closed = one.ended == Ended::kClosed;
    const std::uint64_t age_s = (now.wall_ns - std::min(now.wall_ns, one.since_ns)) / kSecondNs;
    const std::uint64_t keep_s = closed ? segment::kKeepClosedSeconds : segment::kKeepDeadSeconds;
    if (options.all) {
      remove(one, "asked for", options.dry_run, report);
    } else if (age_s >= keep_s) {
      remove(one, closed ? "closed for a minute" : "dead for a day", options.dry_run, report);
    } else if (kept >= segment::kKeepDeadSegments) {
      remove(one, fmt::format("more than {} dead", segment::kKeepDeadSegments), options.dry_run,
             report);
    } else if (kept_bytes + one.entry.bytes > most_bytes) {
      remove(one, "dead processes fill a quarter of the file system", options.dry_run, report);
    } else {
      ++kept;
      kept_bytes += one.entry.bytes;
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
