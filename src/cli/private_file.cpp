// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/private_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "cli/reading_options.hpp"
#include "recording/file_writer.hpp"

namespace ttmem::cli {
namespace {

constexpr std::size_t kFileWriteAtOnce = 1u << 20;

bool is_same_file(const struct stat& facts, const std::string& path) {
  struct stat other{};
  return ::stat(path.c_str(), &other) == 0 && facts.st_dev == other.st_dev &&
         facts.st_ino == other.st_ino;
}

}  // namespace

Result<PrivateFile> PrivateFile::create(const std::string& path, bool replace,
                                        const std::string& source) {
  PrivateFile file;
  file.path_ = file.begun_ = path;
  if (path == "-") {
    file.output_.emplace();
    return file;
  }
  struct stat facts{};
  const bool is_there = ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
  if (is_there && is_same_file(facts, source)) {
    return Error{ErrorCode::kWrongKind, path + ": it is what is read: name another file"};
  }
  if (is_there && replace) file.begun_ = fmt::format("{}.{}.new", path, ::getpid());
  auto made = recording::create_private_file(file.begun_, replace && !is_there);
  if (!made) return made.error();
  file.file_ = std::move(*made);
  return file;
}

void PrivateFile::write(std::string_view bytes) {
  if (output_) return output_->write(bytes);
  waiting_ += bytes;
  if (waiting_.size() >= kFileWriteAtOnce) flush();
}

void PrivateFile::flush() {
  for (std::size_t done = 0; done < waiting_.size() && error_ == 0;) {
    const ssize_t wrote = ::write(file_.get(), waiting_.data() + done, waiting_.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      error_ = wrote == 0 ? ENOSPC : errno;
    }
  }
  waiting_.clear();
}

int PrivateFile::finish() {
  if (output_) return output_->finish();
  flush();
  if (error_ == 0 && begun_ != path_ && std::rename(begun_.c_str(), path_.c_str()) != 0) {
    error_ = errno;
  }
  if (error_ == 0) return kOk;
  return give_up(
      complain(fmt::format("{}: cannot be written: {}", path_, std::strerror(error_)), kFailed));
}

int PrivateFile::give_up(int exit_code) {
  if (!output_) ::unlink(begun_.c_str());
  return exit_code;
}

}  // namespace ttmem::cli
