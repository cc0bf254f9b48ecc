// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/reader_file.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/foreign_file.hpp"
#include "segment/limits.hpp"

namespace ttmem::segment {

namespace {

Error open_error(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return {ErrorCode::kNotFound, "it was removed"};
    case EACCES:
    case EPERM:
      return {
          ErrorCode::kNotPermitted,
          "this user may not read it: run as its owner, as root, or in the group of /run/ttmem"};
    case kNotRegular:
      return {ErrorCode::kWrongKind, "it is not a regular file"};
    case ELOOP:
      return {ErrorCode::kWrongKind, "it is a symbolic link, which is never followed"};
    case EMFILE:
    case ENFILE:
      return {ErrorCode::kSystem, "too many files are open: raise the limit (ulimit -n)"};
    default:
      return {ErrorCode::kSystem, fmt::format("it cannot be opened: {}", std::strerror(error))};
  }
}

}  // namespace

Result<ReadOnlyFile> ReadOnlyFile::open(const std::string& path,
                                        std::optional<std::uint32_t> owner) {
  return opened(AT_FDCWD, path.c_str(), path, owner);
}

Result<ReadOnlyFile> ReadOnlyFile::open_at(int directory, const std::string& path,
                                           std::optional<std::uint32_t> owner) {
  return opened(directory, path.c_str() + path.rfind('/') + 1, path, owner);
}

Result<ReadOnlyFile> ReadOnlyFile::opened(int directory, const char* name, const std::string& path,
                                          std::optional<std::uint32_t> owner) {
  ForeignFile foreign = open_foreign(directory, name);
  if (foreign.error != 0) return open_error(foreign.error);
  ReadOnlyFile file(std::move(foreign.descriptor), path);
  file.take(foreign.facts);
  if (owner && file.owner_ != *owner && file.owner_ != 0) {
    return Error{ErrorCode::kWrongKind,
                 fmt::format("it belongs to user {}, but its directory to user {}: not trusted",
                             file.owner_, *owner)};
  }
  return file;
}

ReadOnlyFile ReadOnlyFile::of_image(FileDescriptor file, std::string path, std::uint32_t owner) {
  ReadOnlyFile image(std::move(file), std::move(path));
  image.is_image_ = true;
  image.owner_ = owner;
  image.restat();
  return image;
}

bool ReadOnlyFile::read(std::uint64_t offset, void* into, std::size_t bytes) const {
  TTMEM_CHECK(into != nullptr || bytes == 0);
  if (offset > kMaxFileBytes || bytes > kMaxFileBytes - offset) return false;
  FileDescriptor again;
  if (!descriptor_) {
    ForeignFile found = open_foreign(AT_FDCWD, path_.c_str());
    if (found.facts.st_ino != inode_ || found.facts.st_dev != device_) return false;
    again = std::move(found.descriptor);
  }
  return read_all(descriptor_ ? descriptor_.get() : again.get(), offset, into, bytes);
}

bool ReadOnlyFile::restat() {
  struct stat facts{};
  if (::fstat(descriptor_.get(), &facts) != 0) return false;
  take(facts);
  return true;
}

void ReadOnlyFile::take(const struct stat& facts) {
  inode_ = facts.st_ino;
  device_ = facts.st_dev;
  size_bytes_ = static_cast<std::uint64_t>(facts.st_size);
  data_bytes_ = is_image_ ? size_bytes_ : static_cast<std::uint64_t>(facts.st_blocks) * 512;
  modified_ns_ = static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000 +
                 static_cast<std::uint64_t>(facts.st_mtim.tv_nsec);
  if (!is_image_) owner_ = facts.st_uid;
  links_ = static_cast<std::uint32_t>(facts.st_nlink);
}

}  // namespace ttmem::segment
