// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/directories.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"

namespace ttmem::collect {

namespace {

constexpr std::string_view kSegmentPrefix = "ttmem-";
// The clock of a file system ticks every few milliseconds.
constexpr std::size_t kMostNames = 1 << 18;
constexpr std::uint64_t kSettledNs = 100'000'000;

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};
using Stream = std::unique_ptr<DIR, CloseDirectory>;

template <typename T>
bool take_number(std::string_view& text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end == text.data()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_dash(std::string_view& text) {
  if (!text.starts_with('-')) return false;
  text.remove_prefix(1);
  return true;
}

void add_user_directories(const std::string& shared_memory, std::vector<Directory>& found) {
  const Stream stream(::opendir(shared_memory.c_str()));
  if (!stream) return;
  std::vector<std::uint32_t> users;
  while (const dirent* entry = ::readdir(stream.get())) {
    std::string_view name = entry->d_name;
    std::uint32_t user = 0;
    if (!name.starts_with(kSegmentPrefix)) continue;
    name.remove_prefix(kSegmentPrefix.size());
    if (take_number(name, user) && name.empty() && user != ::geteuid()) users.push_back(user);
  }
  std::ranges::sort(users);
  for (const std::uint32_t user : users) {
    found.push_back({fmt::format("{}/ttmem-{}", shared_memory, user), user});
  }
}

struct OwnerRule {
  std::optional<std::uint32_t> owner, speaker;  // as in Found
};

// Whether this process sees users as the first namespace has them. Its map is written once.
bool shows_all_users() {
  struct stat space{};
  if (::stat("/proc/self/ns/user", &space) != 0) return false;
  thread_local struct {
    ino_t space = 0;
    bool all = false;
  } known;
  if (known.space == space.st_ino) return known.all;
  constexpr std::uint64_t kAll = 0xFFFFFFFF;
  std::uint64_t inside = 0, outside = 0, count = 0;
  std::ifstream map("/proc/self/uid_map");
  const bool told = static_cast<bool>(map >> inside >> outside >> count);
  if (told) known = {space.st_ino, count == kAll};
  return told && count == kAll;
}

// Whom the files of an open directory must belong to, or why it is not used at all.
Result<OwnerRule> owner_rule(int descriptor, const Directory& directory) {
  struct stat facts{};
  if (::fstat(descriptor, &facts) != 0) {
    return Error{ErrorCode::kSystem, fmt::format("cannot be examined: {}", std::strerror(errno))};
  }
  const bool shared = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (directory.user && (shared || facts.st_uid != *directory.user)) {
    return Error{ErrorCode::kWrongKind,
                 fmt::format("is not a private directory of user {}: not trusted, remove it",
                             *directory.user)};
  }
  if (shared) return OwnerRule{{}, facts.st_uid};
  return OwnerRule{facts.st_uid, {}};
}

}  // namespace

std::vector<Directory> find_directories(const std::vector<std::string>& given,
                                        const std::string& root) {
  std::vector<Directory> found;
  for (const std::string& path : given) found.push_back({path, std::nullopt});
  if (!found.empty()) return found;
  const char* wanted = ::secure_getenv("TTMEM_DIR");
  if (wanted != nullptr && *wanted != '\0') return {{wanted, std::nullopt}};
  found.push_back({root + "/run/ttmem", std::nullopt});
  const std::string shared_memory = root + "/dev/shm";
  found.push_back({fmt::format("{}/ttmem-{}", shared_memory, ::geteuid()), ::geteuid()});
  add_user_directories(shared_memory, found);
  return found;
}

Result<Listing> list_segments(const Directory& directory) {
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (directory.user ? O_NOFOLLOW : 0);
  FileDescriptor descriptor(::open(directory.path.c_str(), flags));
  if (!descriptor) {
    if (errno == ENOENT) return Listing{};
    if (errno == EACCES || errno == EPERM) {
      return Error{ErrorCode::kNotPermitted, "may not be read by this user: run as root to see it"};
    }
    return Error{ErrorCode::kSystem, fmt::format("cannot be opened: {}", std::strerror(errno))};
  }
  const auto rule = owner_rule(descriptor.get(), directory);
  if (!rule) return rule.error();
  FileDescriptor again(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
  const Stream stream(again ? ::fdopendir(again.get()) : nullptr);
  if (!stream) return Error{ErrorCode::kSystem, "cannot be read"};
  [[maybe_unused]] const int given = again.release();  // closedir closes it
  Listing listing;
  std::vector<Found>& files = listing.files;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (!pid_of_name(entry->d_name)) continue;
    if (files.size() >= kMostNames) break;
    struct stat facts{};
    if (::fstatat(descriptor.get(), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    files.push_back({directory.path + '/' + entry->d_name, entry->d_name, facts.st_ino, rule->owner,
                     rule->speaker, facts.st_uid,
                     static_cast<std::uint64_t>(facts.st_blocks) * 512});
  }
  std::ranges::sort(files, {}, &Found::name);
  listing.directory = std::move(descriptor);
  return listing;
}

bool is_unknown_user(std::uint32_t user) {
  static const std::uint32_t kShown = [] {
    std::uint32_t shown = 65534;
    std::ifstream("/proc/sys/kernel/overflowuid") >> shown;
    return shown;
  }();
  return user == kShown && !shows_all_users();
}

bool speaks_for_others(const Found& file, std::uint32_t owner) {
  if (is_unknown_user(owner)) return false;
  return owner == 0 || owner == ::geteuid() || owner == file.speaker;
}

ListState list_state(const Directory& directory, std::uint64_t wall_ns) {
  struct stat facts{};
  if (::stat(directory.path.c_str(), &facts) != 0) return {.settled = true};
  const std::uint64_t changed_ns =
      static_cast<std::uint64_t>(facts.st_ctim.tv_sec) * 1'000'000'000 +
      static_cast<std::uint64_t>(facts.st_ctim.tv_nsec);
  return {facts.st_dev, facts.st_ino, changed_ns, changed_ns + kSettledNs < wall_ns};
}

std::optional<std::int32_t> pid_of_name(std::string_view name) {
  std::int32_t pid = 0;
  std::uint64_t start = 0;
  std::uint64_t nonce = 0;
  if (!name.starts_with(kSegmentPrefix)) return std::nullopt;
  name.remove_prefix(kSegmentPrefix.size());
  const bool fits = take_number(name, pid) && take_dash(name) && take_number(name, start) &&
                    take_dash(name) && take_number(name, nonce, 16) && name.empty();
  return fits && pid > 0 ? std::optional(pid) : std::nullopt;
}

}  // namespace ttmem::collect
