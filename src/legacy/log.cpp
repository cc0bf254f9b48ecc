// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/log.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include <fmt/format.h>

namespace ttmem::legacy {
namespace {

constexpr std::size_t kMostWaiting = 4 * 1024 * 1024;
constexpr std::size_t kWorthWriting = 32 * 1024;

// A write of this much to a descriptor that polls as writable does not block, also on a pipe.
constexpr std::size_t kPiece = PIPE_BUF;

bool is_writable(int descriptor) {
  pollfd asked{descriptor, POLLOUT, 0};
  return ::poll(&asked, 1, 0) == 1;
}

}  // namespace

StreamLog::StreamLog(int output, int errors, bool quiet) : quiet_(quiet) {
  output_.descriptor = output;
  errors_.descriptor = errors;
}

void StreamLog::event(std::string_view lines) {
  if (!quiet_) put(output_, lines);
}
void StreamLog::report(std::string_view lines) { put(output_, lines); }
void StreamLog::error(std::string_view lines) { put(errors_, lines); }

void StreamLog::put(Stream& stream, std::string_view lines) {
  if (stream.waiting.size() + lines.size() > kMostWaiting) {
    write(stream);
    if (stream.waiting.size() + lines.size() > kMostWaiting) {
      stream.lost += static_cast<std::uint64_t>(std::ranges::count(lines, '\n'));
      return;
    }
  }
  if (stream.lost > 0) {
    stream.waiting +=
        fmt::format("⚠️  {} lines of this log were lost: its reader was too slow\n", stream.lost);
    stream.lost = 0;
  }
  stream.waiting += lines;
  if (stream.waiting.size() > kWorthWriting) write(stream);
}

void StreamLog::flush() {
  write(output_);
  write(errors_);
}

void StreamLog::write(Stream& stream) {
  std::size_t written = 0;
  while (written < stream.waiting.size() && is_writable(stream.descriptor)) {
    const std::size_t piece = std::min(kPiece, stream.waiting.size() - written);
    const ssize_t count = ::write(stream.descriptor, stream.waiting.data() + written, piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      if (errno != EAGAIN) written = stream.waiting.size();  // nobody will ever read it
      break;
    }
    written += static_cast<std::size_t>(count);
  }
  stream.waiting.erase(0, written);
}

}  // namespace ttmem::legacy
