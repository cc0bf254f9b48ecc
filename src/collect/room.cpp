// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/room.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "collect/directories.hpp"
#include "segment/format.hpp"
#include "segment/limits.hpp"

namespace ttmem::collect {
namespace {

// What a recording begins with; others fill a directory file by file.
constexpr std::uint64_t kFirstBytes = sizeof(segment::Header) + sizeof(segment::Counters) +
                                      segment::kEventCapacity * sizeof(segment::Event) +
                                      segment::kGrowthBytes;
constexpr std::size_t kMostEntries = 1 << 18;

struct CloseStream {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

std::vector<Room::Share> shares_of(FileDescriptor directory) {
  std::map<std::uint32_t, Room::Share> by_owner;
  const std::unique_ptr<DIR, CloseStream> stream(::fdopendir(directory.get()));
  if (!stream) return {};
  const int descriptor = directory.release();  // closedir closes it
  std::size_t entries = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    struct stat facts{};
    if (++entries > kMostEntries) break;
    if (::fstatat(descriptor, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(facts.st_mode)) continue;
    Room::Share& share = by_owner[facts.st_uid];
    share.owner = facts.st_uid;
    ++share.files;
    share.bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
  }
  std::vector<Room::Share> shares;
  for (const auto& [owner, share] : by_owner) shares.push_back(share);
  std::ranges::stable_sort(shares, std::ranges::greater{}, &Room::Share::bytes);
  return shares;
}

bool measure(Room& room) {
  FileDescriptor directory(::open(room.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct statvfs facts{};
  if (!directory || ::fstatvfs(directory.get(), &facts) != 0) return false;
  if (::faccessat(directory.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return false;
  room.total_bytes = std::uint64_t{facts.f_blocks} * facts.f_frsize;
  room.free_bytes = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  room.has_room = facts.f_blocks == 0 ||
                  room.free_bytes >= segment::room_to_leave(room.total_bytes) + kFirstBytes;
  if (!room.has_room) room.shares = shares_of(std::move(directory));
  return true;
}

}  // namespace

std::vector<Room> rooms_to_record() {
  std::vector<Room> rooms;
  for (const Directory& directory : find_directories({}, "")) {
    if (directory.user && directory.user != ::geteuid()) continue;
    Room room;
    room.path = directory.path;
    if (!measure(room) && directory.user) {
      room.path = directory.path.substr(0, directory.path.rfind('/'));
      if (!measure(room)) continue;
      room.path = directory.path;
    }
    if (room.total_bytes != 0 || room.has_room) rooms.push_back(std::move(room));
  }
  return rooms;
}

}  // namespace ttmem::collect
