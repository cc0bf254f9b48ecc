// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "segment/writer_directory.hpp"

namespace ttmem::serve {
namespace {

constexpr const char* kName = "serve.lock";

long holder(int descriptor) {
  std::array<char, 32> text{};
  if (::pread(descriptor, text.data(), text.size() - 1, 0) <= 0) return 0;
  return std::strtol(text.data(), nullptr, 10);
}

}  // namespace

RunLock::Outcome RunLock::take() {
  segment::WriterDirectory directory{};
  if (const int failed = segment::open_writer_directory(nullptr, directory); failed != 0) {
    problem_ = fmt::format(
        "there is no directory for segments: {}; set TTMEM_DIR to one that may be written",
        std::strerror(failed));
    return Outcome::kImpossible;
  }
  const std::string path = fmt::format("{}/{}", directory.path, kName);
  file_.reset(::openat(directory.fd.get(), kName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_) {
    problem_ = fmt::format("{} cannot be opened: {}", path, std::strerror(errno));
    return Outcome::kImpossible;
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    problem_ = fmt::format(
        "another `ttmem serve` (pid {}) looks after {} already: ask that one, or stop it first",
        holder(file_.get()), directory.path);
    return Outcome::kRunning;
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file_.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t count = ::pwrite(file_.get(), pid.data(), pid.size(), 0);
  }
  return Outcome::kTaken;
}

}  // namespace ttmem::serve
