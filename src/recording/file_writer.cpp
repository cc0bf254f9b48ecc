// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "recording/file_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "recording/checksum.hpp"

namespace ttmem::recording {

namespace {

constexpr int kLevel = 1;  // higher ones cost more and gain little on columns

Error system_error(const std::string& path, const char* what) {
  return {ErrorCode::kSystem, fmt::format("{}: {}: {}", path, what, std::strerror(errno))};
}

}  // namespace

Result<FileDescriptor> create_private_file(const std::string& path, bool replace) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor file(::open(path.c_str(), kFlags, 0600));
  if (!file && errno == EEXIST && replace) {
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
      return Error{ErrorCode::kWrongKind, path + ": it is no regular file: name another one"};
    }
    if (::unlink(path.c_str()) != 0) return system_error(path, "cannot be replaced");
    file.reset(::open(path.c_str(), kFlags, 0600));
  }
  if (file) return file;
  if (errno == EEXIST) {
    return Error{ErrorCode::kWrongKind,
                 path + ": there is such a file: remove it, or name another one"};
  }
  return system_error(path, "cannot be made");
}

void FileWriter::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

FileWriter::FileWriter(FileDescriptor file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), context_(ZSTD_createCCtx()) {
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
}

Result<FileWriter> FileWriter::create(const std::string& path, bool replace, const FileInfo& info,
                                      const Moment& now) {
  auto file = create_private_file(path, replace);
  if (!file) return file.error();
  FileWriter writer(std::move(*file), path);
  BlockHeader header{};
  header.kind = static_cast<std::uint16_t>(BlockKind::kFile);
  header.read = now;
  if (auto error = writer.add(header, bytes_of(info))) {
    ::unlink(path.c_str());  // empty, it would only look like a recording
    return *error;
  }
  return writer;
}

std::optional<Error> FileWriter::move_to(const std::string& path) {
  if (std::rename(path_.c_str(), path.c_str()) != 0)
    return system_error(path, "cannot be replaced");
  path_ = path;
  return std::nullopt;
}

std::optional<Error> FileWriter::add(BlockHeader header, std::span<const std::byte> plain) {
  TTMEM_CHECK(plain.size() <= kMaxPlainBytes);
  packed_.resize(sizeof header + ZSTD_compressBound(plain.size()));
  const std::size_t packed =
      ZSTD_compress2(context_.get(), packed_.data() + sizeof header, packed_.size() - sizeof header,
                     plain.data(), plain.size());
  if (ZSTD_isError(packed) != 0) return Error{ErrorCode::kSystem, ZSTD_getErrorName(packed)};
  packed_.resize(sizeof header + packed);

  header.frame_magic = kFrameMagic;
  header.frame_bytes = sizeof header - 8;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.major = kMajorVersion;
  header.minor = kMinorVersion;
  header.number = static_cast<std::uint32_t>(index_.size());
  header.packed_bytes = static_cast<std::uint32_t>(packed);
  header.plain_bytes = static_cast<std::uint32_t>(plain.size());
  header.body_checksum = checksum(std::span(packed_).subspan(sizeof header));
  header.checksum = checksum(bytes_of(header).first(offsetof(BlockHeader, checksum)));
  std::memcpy(packed_.data(), &header, sizeof header);
  const std::uint64_t offset = bytes_;
  if (auto error = write(packed_)) return error;
  index_.push_back({offset, header});
  return std::nullopt;
}

std::uint64_t FileWriter::bytes_when_finished() const {
  const std::size_t entries = (index_.size() + 1) * sizeof(IndexEntry);
  return bytes_ + sizeof(BlockHeader) + ZSTD_compressBound(entries) + sizeof(Trailer);
}

std::optional<Error> FileWriter::finish() {
  const std::uint64_t offset = bytes_;
  BlockHeader header{};
  header.kind = static_cast<std::uint16_t>(BlockKind::kIndex);
  // An index that would be too large is left out: a reader walks.
  const auto entries = std::as_bytes(std::span(index_));
  if (entries.size() > kMaxPlainBytes) return std::nullopt;
  if (auto error = add(header, Bytes(entries.begin(), entries.end()))) return error;
  Trailer trailer{};
  trailer.frame_magic = kFrameMagic;
  trailer.frame_bytes = sizeof trailer - 8;
  std::memcpy(trailer.magic, kEndMagic, sizeof kEndMagic);
  trailer.index_offset = offset;
  trailer.checksum = checksum(bytes_of(trailer).first(offsetof(Trailer, checksum)));
  return write(bytes_of(trailer));
}

std::optional<Error> FileWriter::write(std::span<const std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(bytes_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      Error error = system_error(path_, "cannot be written");
      // Half a block would be found, and refused; none is tidier.
      if (done > 0 && ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) return error;
      return error;
    }
    done += static_cast<std::size_t>(wrote);
  }
  bytes_ += bytes.size();
  return std::nullopt;
}

}  // namespace ttmem::recording
