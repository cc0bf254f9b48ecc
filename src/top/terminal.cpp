// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/terminal.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace ttmem::top {
namespace {

// Alternate screen, no cursor, no line wrap, clicks and wheel with plain numbers.
constexpr std::string_view kEnter =
    "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1000h\x1b[?1006h\x1b[0m\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?1006l\x1b[?1000l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
// Terminals that know it show the bytes between at once; the others ignore it.
constexpr std::string_view kBegin = "\x1b[?2026h", kEnd = "\x1b[?2026l";

constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kWriteTimeoutMs = 2000;

// For the handler of a crash: nothing that allocates or locks.
struct Saved {
  termios modes;
  volatile sig_atomic_t active;
};
Saved saved{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void give_back() {
  if (saved.active == 0) return;
  saved.active = 0;
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, kLeave.data(), kLeave.size());
  tcsetattr(STDOUT_FILENO, TCSAFLUSH, &saved.modes);
}

void on_crash(int number) {
  give_back();
  signal(number, SIG_DFL);
  raise(number);
}

void catch_crashes(bool on) {
  for (const int number : kCrashes) {
    struct sigaction action{};
    action.sa_handler = on ? on_crash : SIG_DFL;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(number, &action, nullptr);
  }
}

sigset_t awaited() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT}) {
    sigaddset(&signals, number);
  }
  return signals;
}

void take_over() {
  saved.active = 1;
  termios raw = saved.modes;
  cfmakeraw(&raw);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDOUT_FILENO, TCSAFLUSH, &raw);
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, kEnter.data(), kEnter.size());
}

// A terminal that takes nothing for a while (a stopped ssh) does not hold us up for ever.
bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{STDOUT_FILENO, POLLOUT, 0};
      if (poll(&ready, 1, kWriteTimeoutMs) <= 0) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<Terminal> Terminal::open(const view::Ansi& ansi) {
  const bool terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  if (!terminal || tcgetattr(STDOUT_FILENO, &saved.modes) != 0) {
    return Error{ErrorCode::kSystem,
                 "`ttmem top` needs a terminal; `ttmem top --once` prints one screen, "
                 "`ttmem status` a report"};
  }
  const sigset_t signals = awaited();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  FileDescriptor descriptor(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  catch_crashes(true);
  take_over();
  return Terminal(ansi, std::move(descriptor));
}

Terminal::~Terminal() {
  if (!signals_) return;
  give_back();
  catch_crashes(false);
  signals_.reset();
  const sigset_t signals = awaited();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

Terminal::Size Terminal::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {80, 24};
  return {size.ws_col, size.ws_row};
}

bool Terminal::show(const view::Grid& grid) {
  const std::string changes = view::difference(shown_, grid, ansi_);
  shown_ = grid;
  if (changes.empty()) return true;
  return write_all(std::string(kBegin) + changes + std::string(kEnd));
}

Terminal::Signal Terminal::take_signal() {
  signalfd_siginfo info{};
  Signal result = Signal::kNone;
  while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCONT) take_over();
    const Signal asked = number == SIGTSTP                         ? Signal::kStop
                         : number == SIGCONT || number == SIGWINCH ? Signal::kRedraw
                                                                   : Signal::kEnd;
    result = std::max(result, asked);
  }
  return result;
}

void Terminal::stop() {
  give_back();
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  raise(SIGTSTP);  // returns when the process goes on
  sigprocmask(SIG_BLOCK, &one, nullptr);
  take_over();
  forget();
}

}  // namespace ttmem::top
