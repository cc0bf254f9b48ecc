// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/output.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "cli/exit_code.hpp"

namespace ttmem::cli {
namespace {

constexpr std::size_t kWriteAtOnce = 64 * 1024;

bool colours_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::strcmp(terminal, "dumb") == 0;
  return (no_color == nullptr || *no_color == '\0') && !dumb;
}

}  // namespace

Output::Output() : terminal_(isatty(STDOUT_FILENO) == 1) {
  signal(SIGPIPE, SIG_IGN);  // a reader that has left is noticed when writing
  style_.colour = terminal_ && colours_wanted();
}

void Output::write(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= kWriteAtOnce) flush();
}

void Output::flush() {
  std::string_view rest = waiting_;
  while (!rest.empty() && !closed_ && error_ == 0) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  waiting_.clear();
}

bool Output::is_over() {
  pollfd standard{STDOUT_FILENO, 0, 0};
  if (poll(&standard, 1, 0) == 1 && (standard.revents & (POLLERR | POLLNVAL)) != 0) closed_ = true;
  return closed_ || error_ != 0;
}

int Output::finish() {
  flush();
  if (error_ == 0) return kOk;
  fmt::print(stderr, "ttmem: cannot write the output: {}\n", std::strerror(error_));
  return kFailed;
}

int Output::print(std::string_view text) {
  Output output;
  output.write(text);
  return output.finish();
}

}  // namespace ttmem::cli
