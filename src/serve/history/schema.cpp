// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/schema.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"

namespace ttmem::serve::history {
namespace {

// In the order of their names, as has_schema() reads them.
constexpr std::array<const char*, 9> kSchema = {
    "CREATE TABLE devices(number INTEGER PRIMARY KEY, unique_id INTEGER NOT NULL, "
    "arch INTEGER NOT NULL, mock INTEGER NOT NULL, shown_id INTEGER NOT NULL) STRICT",
    "CREATE TABLE points(tier INTEGER, slab INTEGER, series INTEGER, step INTEGER, first INTEGER, "
    "min INTEGER, max INTEGER, last INTEGER, PRIMARY KEY(tier, slab, series, step)) "
    "STRICT, WITHOUT ROWID",
    "CREATE TABLE run_devices(run INTEGER, device INTEGER, dram INTEGER, l1 INTEGER, "
    "l1_small INTEGER, trace INTEGER, program_l1 INTEGER, PRIMARY KEY(run, device)) "
    "STRICT, WITHOUT ROWID",
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL, pid INTEGER NOT NULL, "
    "start INTEGER NOT NULL, segment TEXT NOT NULL, name TEXT NOT NULL, user TEXT NOT NULL, "
    "uid INTEGER NOT NULL, started INTEGER NOT NULL, first_seen INTEGER NOT NULL, "
    "ended_at INTEGER NOT NULL, ended TEXT NOT NULL, failures INTEGER NOT NULL) STRICT",
    "CREATE INDEX runs_by_process ON runs(boot_id, pid, start, segment)",
    "CREATE TABLE series(id INTEGER PRIMARY KEY, metric TEXT NOT NULL, subject INTEGER NOT NULL, "
    "changed_s INTEGER NOT NULL, last INTEGER, open INTEGER NOT NULL) STRICT",
    "CREATE INDEX series_by_metric ON series(metric, open, changed_s)",
    "CREATE TABLE tiers(tier INTEGER PRIMARY KEY, kept_from_s INTEGER NOT NULL) STRICT",
    "CREATE TABLE up(from_s INTEGER PRIMARY KEY, to_s INTEGER NOT NULL) STRICT",
};

constexpr std::size_t kHeaderBytes = 100;
constexpr char kMagic[] = "SQLite format 3";  // with its zero
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;

std::int64_t big_endian(const std::array<unsigned char, kHeaderBytes>& header, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | header[at + i];
  return value;
}

FileKind kind_of_header(const std::array<unsigned char, kHeaderBytes>& header) {
  if (std::memcmp(header.data(), kMagic, sizeof kMagic) != 0) return FileKind::kForeign;
  if (big_endian(header, kApplicationIdAt) != kApplicationId) return FileKind::kForeign;
  return big_endian(header, kUserVersionAt) > kFormat ? FileKind::kNewer : FileKind::kOurs;
}

}  // namespace

FileKind kind_of(const std::string& path, std::string& reason) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    reason = std::strerror(errno);
    return errno == ENOENT ? FileKind::kNew : FileKind::kUnreadable;
  }
  if (!S_ISREG(status.st_mode)) return FileKind::kNoFile;
  if (status.st_size == 0) return FileKind::kNew;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    reason = std::strerror(errno);
    return FileKind::kUnreadable;
  }
  std::array<unsigned char, kHeaderBytes> header{};
  const ssize_t size = ::pread(file.get(), header.data(), header.size(), 0);
  if (size != static_cast<ssize_t>(header.size())) return FileKind::kForeign;
  return kind_of_header(header);
}

bool make_schema(Database& database) {
  if (!database.script("BEGIN EXCLUSIVE")) return false;
  const bool made = std::all_of(kSchema.begin(), kSchema.end(),
                                [&](const char* each) { return database.script(each); });
  const std::string numbers =
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={};", kApplicationId, kFormat);
  if (made && database.script(numbers.c_str()) && database.script("COMMIT")) return true;
  database.roll_back();
  return false;
}

bool has_schema(Database& database) {
  std::size_t found = 0;
  bool same = true;
  const bool read = database.each(
      "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name LIMIT 100", {},
      [&](const Database::Columns& row) {
        same = same && found < kSchema.size() && row.text(0) == kSchema[found];
        ++found;
      });
  return read && same && found == kSchema.size();
}

}  // namespace ttmem::serve::history
