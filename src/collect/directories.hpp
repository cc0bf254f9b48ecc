// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where segments are, and which of the files there are segments. A private directory belongs to one
// user, and so must its files; a directory that several may write to (the host-wide one, with its
// setgid bit) holds files of many owners.
//
// Whose a file is the kernel says, and a process in it is that user's. Only root, the owner of a
// shared directory (its daemon) and the reader itself may speak for processes of others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"

namespace ttmem::collect {

struct Directory {
  std::string path;
  std::optional<std::uint32_t> user;  // whose it must be, by its name: /dev/shm/ttmem-<uid>
};

// The directories given, or $TTMEM_DIR, or the default ones below `root`. Those that do not exist
// are listed too, except for other users' ones.
std::vector<Directory> find_directories(const std::vector<std::string>& given,
                                        const std::string& root);

struct Found {
  std::string path;
  std::string name;
  std::uint64_t inode = 0;
  std::optional<std::uint32_t> owner;    // whom the file must belong to; nothing = anybody
  std::optional<std::uint32_t> speaker;  // the owner of a shared directory
  std::uint32_t uid = 0;                 // whose it is, as the kernel says
  std::uint64_t bytes = 0;               // that it has on disk
};

// Whether this is what the kernel shows instead of users whom the reader's user namespace does not
// have: it may be anybody, and two of them need not be the same.
bool is_unknown_user(std::uint32_t user);
// Whether files of this owner may speak for processes of other users.
bool speaks_for_others(const Found& file, std::uint32_t owner);

struct Listing {
  FileDescriptor directory;  // open, so that its files are the listed ones whatever is renamed
  std::vector<Found> files;
};

// Every file with a segment's name. A directory that does not exist holds none; one that may not be
// read is an error.
Result<Listing> list_segments(const Directory& directory);

// The state of a directory's list of names: two that are equal and settled mean that a new listing
// would find the same files.
struct ListState {
  std::uint64_t device = 0, inode = 0;  // 0: there is none
  std::uint64_t changed_ns = 0;
  bool settled = false;  // changed so long before that no later change can carry the same time

  bool operator==(const ListState&) const = default;
};
ListState list_state(const Directory& directory, std::uint64_t wall_ns);

// "ttmem-<pid>-<start>-<16 hex digits>": the pid, or nothing if it is no such name.
std::optional<std::int32_t> pid_of_name(std::string_view name);

}  // namespace ttmem::collect
