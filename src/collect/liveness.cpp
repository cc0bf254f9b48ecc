// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/liveness.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "segment/reader_header.hpp"

namespace ttmem::collect {

namespace {

using ledger::Ended;

bool same_identity(const segment::Identity& a, const segment::Identity& b) {
  return a.pid == b.pid && a.start_ticks == b.start_ticks && a.pid_namespace == b.pid_namespace &&
         std::memcmp(a.boot_id, b.boot_id, sizeof a.boot_id) == 0;
}

bool can_look_up(const ProcFs& procfs, const segment::Identity& subject) {
  return subject.pid > 0 && procfs.pid_namespace() != 0 &&
         subject.pid_namespace == procfs.pid_namespace();
}

// Where either side could not learn its boot, nothing is known.
bool is_of_another_boot(const ProcFs& procfs, const segment::Identity& subject) {
  constexpr std::array<std::uint8_t, 16> kUnknown{};
  const bool known = procfs.boot_id() != kUnknown &&
                     std::memcmp(subject.boot_id, kUnknown.data(), kUnknown.size()) != 0;
  return known && !same_boot(procfs, subject);
}

// The facts of the very process that the identity names, if it runs.
Result<std::optional<ProcessFacts>> running(const ProcFs& procfs,
                                            const segment::Identity& subject) {
  auto facts = procfs.process(subject.pid);
  if (!facts || !*facts) return facts;
  const bool other = subject.start_ticks != 0 && (*facts)->start_ticks != subject.start_ticks;
  if ((*facts)->gone() || other) return std::optional<ProcessFacts>();
  return facts;
}

}  // namespace

bool same_boot(const ProcFs& procfs, const segment::Identity& subject) {
  return std::memcmp(procfs.boot_id().data(), subject.boot_id, sizeof subject.boot_id) == 0;
}

std::optional<bool> lock_state(int descriptor) {
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (::fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return std::nullopt;
  return lock.l_type != F_UNLCK;
}

void Liveness::look(const ProcFs& procfs, const segment::Header& header,
                    const segment::ReadOnlyFile& file, bool exited, std::uint64_t now_ns) {
  if (told_ || ended_ != Ended::kAlive) return;
  if (pidfd_ && !exited && now_ns < asked_ns_ + kLockEveryNs) return;
  asked_ns_ = now_ns;
  // What could not be asked changes nothing, and at the first look nothing is known then.
  const std::optional<Evidence> found = gather(procfs, header, file, exited);
  is_unknown_ = !found && looks_ == 0;
  if (!found) return;
  evidence_ = *found;
  if (looks_ == 0) watch(procfs, header.subject);
  ++looks_;
}

std::optional<Liveness::Evidence> Liveness::gather(const ProcFs& procfs,
                                                   const segment::Header& header,
                                                   const segment::ReadOnlyFile& file,
                                                   bool exited) const {
  const segment::Identity& subject = header.subject;
  if (exited || is_of_another_boot(procfs, subject)) return Evidence::kGone;
  const bool own = same_identity(subject, header.writer);
  const std::optional<bool> answer = lock_state(file.descriptor());
  if (!answer) return std::nullopt;
  const bool held = *answer;
  if (!can_look_up(procfs, subject)) return held ? Evidence::kRunning : Evidence::kGone;
  const bool ask_name = looks_ % kLooksToName == 0;
  if (own && held && pidfd_ && !ask_name) return Evidence::kRunning;

  const auto answered = running(procfs, subject);
  if (!answered) {
    if (held) return Evidence::kRunning;
    if (answered.error().code != ErrorCode::kNotPermitted) return std::nullopt;
    return Evidence::kGone;
  }
  const std::optional<ProcessFacts>& facts = *answered;
  if (!facts) return Evidence::kGone;
  if (!trusted_ && !procfs.is_user(subject.pid, file.owner()).value_or(true)) {
    return Evidence::kClaimed;
  }
  if (!own) return held ? Evidence::kRunning : Evidence::kUnwatched;
  if (held && facts->comm == segment::text(subject.name)) return Evidence::kRunning;
  const auto mapped = procfs.maps(subject.pid, file.device(), file.inode());
  return mapped.value_or(held) ? Evidence::kRunning : Evidence::kReplaced;
}

Ended Liveness::conclude(const segment::Header& header) {
  if (told_ || ended_ != Ended::kAlive) return ended_;
  const bool closed = header.ended == static_cast<std::uint32_t>(segment::Ended::kClosed);
  switch (evidence_) {
    case Evidence::kRunning:
      break;
    case Evidence::kUnwatched:
      if (closed) ended_ = Ended::kClosed;
      break;
    case Evidence::kClaimed:
    case Evidence::kGone:
      ended_ = closed ? Ended::kClosed : Ended::kDied;
      break;
    case Evidence::kReplaced:
      ended_ = closed ? Ended::kClosed : Ended::kExec;
      break;
  }
  if (ended_ != Ended::kAlive) pidfd_.reset();
  return ended_;
}

void Liveness::watch(const ProcFs& procfs, const segment::Identity& subject) {
  if (!procfs.real() || !can_look_up(procfs, subject)) return;
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, subject.pid, 0)));
  // The pid may have changed hands before the descriptor was there, not after.
  const auto facts = running(procfs, subject);
  if (pidfd_ && (!facts || !*facts)) pidfd_.reset();
}

std::vector<bool> poll_exited(const std::vector<int>& descriptors) {
  std::vector<pollfd> polled(descriptors.size());
  for (std::size_t i = 0; i < polled.size(); ++i) polled[i] = {descriptors[i], POLLIN, 0};
  std::vector<bool> exited(descriptors.size());
  if (::poll(polled.data(), polled.size(), 0) <= 0) return exited;
  for (std::size_t i = 0; i < polled.size(); ++i) exited[i] = (polled[i].revents & POLLIN) != 0;
  return exited;
}

}  // namespace ttmem::collect
