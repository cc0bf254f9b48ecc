// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/upstream.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/foreign_file.hpp"

namespace ttmem::collect {
namespace {

constexpr std::string_view kFolder = "/dev/shm";
constexpr std::string_view kRegionPrefix = "tt_device_";
constexpr std::string_view kSuffix = "_memory";
constexpr std::size_t kIdAt = 32, kRowsAt = 856, kRowBytes = 120, kReadyAt = 8536;
constexpr std::size_t kNameAt = 56, kNameBytes = 64;
constexpr std::uint32_t kReady = 0x52454459;
constexpr std::uint64_t kMostBytes = 1ull << 44;  // beyond every chip: a wrapped value
constexpr std::size_t kMostFiles = 4096;

template <typename T>
T take(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<std::uint64_t> sane(std::uint64_t bytes) {
  return bytes <= kMostBytes ? std::optional(bytes) : std::nullopt;
}

// Its writers take no lock, so a row may be half of one update and half of the next: every value
// stands for itself, and one that cannot be true is not known.
UpstreamRow row_of(std::span<const std::byte> bytes) {
  UpstreamRow row;
  row.pid = take<std::int32_t>(bytes, 0);
  row.dram = sane(take<std::uint64_t>(bytes, 8));
  row.l1 = sane(take<std::uint64_t>(bytes, 16));
  row.l1_small = sane(take<std::uint64_t>(bytes, 24));
  row.trace = sane(take<std::uint64_t>(bytes, 32));
  row.cb = sane(take<std::uint64_t>(bytes, 40));
  row.updated_ns = take<std::uint64_t>(bytes, 48);
  const auto* name = reinterpret_cast<const char*>(bytes.data() + kNameAt);
  row.name.assign(name, strnlen(name, kNameBytes));
  return row;
}

Error refusal(std::string message) { return {ErrorCode::kWrongKind, std::move(message)}; }

Result<std::vector<std::byte>> read_region(const std::string& path) {
  const ForeignFile file = open_foreign(AT_FDCWD, path.c_str());
  if (file.error == kNotRegular) return refusal("is no regular file");
  if (file.error != 0) {
    if (file.error == ENOENT) return Error{ErrorCode::kNotFound, "is gone"};
    struct stat facts{};
    const bool known = ::lstat(path.c_str(), &facts) == 0;
    return Error{ErrorCode::kNotPermitted,
                 fmt::format("belongs to user {} and may not be read: run as that user or as root",
                             known ? std::to_string(facts.st_uid) : "?")};
  }
  const struct stat& facts = file.facts;
  std::vector<std::byte> bytes(kUpstreamBytes);
  const ssize_t got = ::pread(file.descriptor.get(), bytes.data(), bytes.size(), 0);
  // Size and content are set one after the other by whoever makes it: that is no fault to report.
  if (facts.st_size == 0) return Error{ErrorCode::kNotFound, "is being created"};
  if (facts.st_size != static_cast<off_t>(kUpstreamBytes) || got != facts.st_size) {
    return refusal(fmt::format("has {} bytes, which is no known layout", facts.st_size));
  }
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> upstream_id(std::string_view name) {
  if (!name.starts_with(kRegionPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  if (name.size() <= kRegionPrefix.size() + kSuffix.size()) return std::nullopt;
  name.remove_prefix(kRegionPrefix.size());
  name.remove_suffix(kSuffix.size());
  return name.size() <= 20 ? decimal(name) : std::nullopt;
}

Result<UpstreamRegion> parse_upstream(std::span<const std::byte> bytes, std::uint64_t id) {
  if (bytes.size() != kUpstreamBytes) return refusal("matches no known layout");
  UpstreamRegion region;
  region.layout = take<std::uint32_t>(bytes, 0);
  region.unique_id = take<std::uint64_t>(bytes, kIdAt);
  if (region.layout == 0) return Error{ErrorCode::kNotFound, "is being created"};
  if (region.layout < 2 || region.layout > 4) {
    return Error{ErrorCode::kWrongVersion,
                 fmt::format("has layout {}; 2, 3 and 4 are known", region.layout)};
  }
  if (region.layout == 4 && take<std::uint32_t>(bytes, kReadyAt) != kReady) {
    return Error{ErrorCode::kNotFound, "is being created"};
  }
  // The name is what others look it up by, so a copy or a renamed file would count a chip twice.
  if (region.unique_id != id) return refusal("contains another chip than its name says");
  for (std::size_t i = 0; i < kUpstreamRows; ++i) {
    UpstreamRow row = row_of(bytes.subspan(kRowsAt + i * kRowBytes, kRowBytes));
    if (row.pid > 0) region.rows.push_back(std::move(row));
  }
  return region;
}

UpstreamRegions read_upstream(const HostRoot& root) {
  UpstreamRegions found;
  for (const std::string& name : root.list(std::string(kFolder), kMostFiles)) {
    const auto id = upstream_id(name);
    if (!id) continue;
    const std::string path = fmt::format("{}/{}", kFolder, name);
    const auto bytes = read_region(root.full(path));
    const auto region = bytes ? parse_upstream(*bytes, *id) : Result<UpstreamRegion>(bytes.error());
    if (region) {
      found.regions.push_back(*region);
    } else if (region.error().code != ErrorCode::kNotFound) {
      found.problems.push_back(path + ": " + region.error().message);
    }
  }
  return found;
}

}  // namespace ttmem::collect
