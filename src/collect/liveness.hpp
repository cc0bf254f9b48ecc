// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Is the process whose memory a segment describes still there? Its lock on byte 0 is the first
// witness; pid, start time, boot and namespace are the tie-breaks:
//
//   lock   process        mapped   says
//   held   there          -        alive
//   held   other name     no       exec: a forked child kept the descriptor
//   held   gone           -        died: a forked child kept the descriptor
//   held   not ours       -        alive: a pid of another namespace cannot be looked up
//   free   there          yes      alive: the host closed our descriptor
//   free   there          no       exec: the same pid runs another program now
//   free   gone, zombie   -        died
//
// A segment that was closed cleanly says so itself. If the writer is not the subject (a daemon that
// writes for another process), the lock tells only about the writer, and the subject decides.
//
// A file speaks for processes of its owner. One that names a process of another user is a false
// claim and says nothing about it, unless its owner may speak for others (collect/directories.hpp).
// A writer that could not learn which boot it runs in is judged by its lock alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/file_descriptor.hpp"
#include "collect/procfs.hpp"
#include "ledger/snapshot.hpp"
#include "segment/format.hpp"
#include "segment/reader_file.hpp"

namespace ttmem::collect {

// A pidfd tells of every exit at once. That a process became another program is asked of its lock
// this often, and of its name at every kLooksToName-th such question.
inline constexpr std::uint64_t kLockEveryNs = 500'000'000;
inline constexpr std::uint32_t kLooksToName = 16;

// Whether the machine still runs that the process was started on.
bool same_boot(const ProcFs& procfs, const segment::Identity& subject);

// Whether somebody holds the writer's lock; nothing if that could not be asked.
std::optional<bool> lock_state(int descriptor);
// The same for those who must not disturb anybody: if it could not be asked, it may be.
inline bool locked(int descriptor) { return lock_state(descriptor).value_or(true); }

// One process's state, remembered between looks. Once it ended it stays ended.
//
// A look has two halves with a fresh read of the header in between: a process that closes its
// segment and exits while we look must not be taken for one that died.
class Liveness {
 public:
  // First half: what lock and /proc say at `now_ns` (monotonic). `exited` is what a poll of
  // descriptor() said.
  void look(const ProcFs& procfs, const segment::Header& header, const segment::ReadOnlyFile& file,
            bool exited, std::uint64_t now_ns);
  // Before the first look: the file's owner may speak for processes of others.
  void trust() { trusted_ = true; }
  // Of a recorded process: nobody is looked at, and it is as was told.
  void tell(ledger::Ended ended) {
    told_ = true;
    ended_ = ended;
  }
  // Second half, with a header that was read after the look.
  ledger::Ended conclude(const segment::Header& header);

  // A pidfd that becomes readable when the process exits, or -1.
  int descriptor() const { return pidfd_.get(); }
  ledger::Ended ended() const { return ended_; }
  // Nothing could be asked yet, at no look.
  bool is_unknown() const { return is_unknown_; }
  bool is_false_claim() const { return evidence_ == Evidence::kClaimed; }

 private:
  enum class Evidence : std::uint8_t {
    kRunning,
    kUnwatched,  // the subject runs, but its writer is another process and gone
    kGone,
    kReplaced,  // by another program, through exec
    kClaimed,   // the process is another user's
  };
  // Nothing: it could not be asked.
  std::optional<Evidence> gather(const ProcFs& procfs, const segment::Header& header,
                                 const segment::ReadOnlyFile& file, bool exited) const;
  void watch(const ProcFs& procfs, const segment::Identity& subject);

  bool trusted_ = false;
  bool is_unknown_ = false;
  bool told_ = false;
  ledger::Ended ended_ = ledger::Ended::kAlive;
  Evidence evidence_ = Evidence::kRunning;
  FileDescriptor pidfd_;
  std::uint32_t looks_ = 0;     // that asked more than the pidfd
  std::uint64_t asked_ns_ = 0;  // when the last of them was
};

// Polls the descriptors of many at once; one flag each, in the same order. -1 is never ready.
std::vector<bool> poll_exited(const std::vector<int>& descriptors);

}  // namespace ttmem::collect
