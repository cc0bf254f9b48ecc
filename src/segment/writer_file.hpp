// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The file of a segment, from the writer's side: made, locked, mapped once over its whole range,
// and made ready piece by piece. Storing into a piece that is ready can neither fault nor raise
// SIGBUS.
//
// Everything here may call the system, so nothing here may be called under the recorder's lock. No
// destructor: a segment lives as long as its process, whatever order things are torn down in.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "segment/format.hpp"
#include "segment/writer_directory.hpp"

namespace ttmem::segment {

// Makes pages present and writable. Safe on file pages only after a successful fallocate.
bool populate(void* start, std::size_t bytes);

class WriterFile {
 public:
  enum class Health { kGood, kReopened, kGone };

  // Makes the file of process (pid, start): exclusive, locked, with an empty header. 0 or an errno.
  int create(const char* directory, std::int32_t pid, std::uint64_t start,
             Choice choice = Choice::kFirst);

  // Makes the first `bytes` of a section ready. 0; ENOSPC if others would be left without room, and
  // `spare` bytes more; EFBIG beyond RLIMIT_FSIZE (asked first: the kernel's answer would be a
  // deadly signal).
  int prepare(SectionKind section, std::uint64_t bytes, std::uint64_t spare = 0);
  std::uint64_t ready(SectionKind section) const { return ready_[index(section)]; }

  // Looks whether the descriptor is still ours (a host may have closed it, and its number may be
  // another file by now) and the file still has a name. kReopened: there is a new descriptor. The
  // lock needs none: it belongs to the open file, which the mapping keeps open.
  Health check();

  // Unmaps and closes: the lock is free from here on, and the file stays.
  void let_go();
  // Ends a file that never came into use: unmaps, closes, removes.
  void discard();

  std::byte* base() const { return base_; }
  std::uint64_t nonce() const { return nonce_; }
  std::uint64_t max_slots() const { return max_slots_; }
  const char* path() const { return path_; }
  bool on_tmpfs() const { return on_tmpfs_; }
  int descriptor() const { return fd_; }
  dev_t device() const { return device_; }
  ino_t inode() const { return inode_; }

 private:
  static std::size_t index(SectionKind section) { return static_cast<std::size_t>(section); }
  int open_new(const char* directory, std::int32_t pid, std::uint64_t start, Choice choice);
  int map();
  int leaves_room(std::uint64_t bytes) const;
  bool is_ours(int fd, nlink_t* links) const;

  int fd_ = -1;
  bool on_tmpfs_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::byte* base_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t nonce_ = 0;
  std::uint64_t max_slots_ = 0;
  std::uint64_t ready_[kSections + 1] = {};  // by kind; 0 = the header
  char path_[384] = {};
};

}  // namespace ttmem::segment
