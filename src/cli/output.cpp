// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/output.hpp"

#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>

#include "cli/exit_code.hpp"
#include "cli/say.hpp"

namespace ttmem::cli {
namespace {

constexpr std::size_t kWriteAtOnce = 64 * 1024;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_utf8() {
  std::setlocale(LC_CTYPE, "");
  const std::string_view codes = nl_langinfo(CODESET);
  // Without any locale (ssh, containers) terminals of today are still UTF-8.
  const bool unset =
      variable("LC_ALL").empty() && variable("LC_CTYPE").empty() && variable("LANG").empty();
  return codes == "UTF-8" || unset;
}

}  // namespace

view::Ansi ansi_of_output(std::string_view theme) {
  if (isatty(STDOUT_FILENO) != 1) return {};
  const view::Theme colours = theme == "light"  ? view::Theme::kLight
                              : theme == "dark" ? view::Theme::kDark
                                                : view::theme_of(variable("COLORFGBG"));
  const view::ColourDepth depth =
      view::colour_depth(variable("NO_COLOR"), variable("COLORTERM"), variable("TERM"));
  return {view::Palette(colours), depth, !is_utf8()};
}

Output::Output() : terminal_(isatty(STDOUT_FILENO) == 1) {
  signal(SIGPIPE, SIG_IGN);  // a reader that has left is noticed when writing
  style_.ansi = ansi_of_output();
  winsize size{};
  if (terminal_ && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style_.columns = size.ws_col;
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
  say("ttmem: cannot write the output: {}\n", std::strerror(error_));
  return kFailed;
}

int Output::print(std::string_view text) {
  Output output;
  output.write(text);
  return output.finish();
}

}  // namespace ttmem::cli
