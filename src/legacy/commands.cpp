// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/commands.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "collect/collector.hpp"
#include "legacy/server.hpp"
#include "legacy/viewer.hpp"
#include "legacy/window.hpp"
#include "loop/loop.hpp"

namespace ttmem::legacy {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// False if nobody reads any more, or it cannot be written.
bool put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// A reader that left (`tt_smi_umd | head`) is no failure.
int print(std::string_view text) {
  ::signal(SIGPIPE, SIG_IGN);
  if (put(text) || errno == EPIPE) return 0;
  std::fputs(fmt::format("cannot write the output: {}\n", std::strerror(errno)).c_str(), stderr);
  return 3;
}

// ---- allocation_server_poc ---------------------------------------------------------------------

// As the original, unknown options are ignored.
int server(int argc, char** argv) {
  AllocationServerOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "-q" || word == "--quiet") options.quiet = true;
    if (word == "-h" || word == "--help") {
      return print(fmt::format(
          "Serve the clients of the original allocation_server_poc, until Ctrl-C.\n"
          "`ttmem serve` does the same, and has a web page, an HTTP API and metrics.\n"
          "Usage: {} [-q|--quiet]\n"
          "  -h, --help   print this and exit\n"
          "  -q, --quiet  print nothing for each allocation\n"
          "Environment:\n"
          "  TT_ALLOC_SERVER_SOCKET  the socket, instead of /tmp/tt_allocation_server.sock\n",
          argv[0]));
    }
  }
  const char* path = std::getenv("TT_ALLOC_SERVER_SOCKET");
  if (path != nullptr && *path != '\0') options.path = path;
  return run_allocation_server(options);
}

// ---- tt_smi_umd --------------------------------------------------------------------------------

struct ViewerOptions {
  bool watch = false, help = false;
  std::chrono::milliseconds refresh{500};
};

ViewerOptions viewer_options(int argc, char** argv) {
  ViewerOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "-w" || word == "--watch") options.watch = true;
    if (word == "-h" || word == "--help") options.help = true;
    if (word == "-r" && i + 1 < argc) {
      const long wanted = std::strtol(argv[++i], nullptr, 10);
      if (wanted >= 10 && wanted <= 3'600'000) options.refresh = std::chrono::milliseconds(wanted);
    }
  }
  return options;
}

// The other screen, without echo, line buffering and lines that wrap; everything is put back at the
// end.
class RawTerminal {
 public:
  RawTerminal() {
    keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    if (keys_) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    put("\x1b[?1049h\x1b[?25l\x1b[?7l");
  }
  ~RawTerminal() {
    put("\x1b[?7h\x1b[?25h\x1b[?1049l");
    if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  bool has_keys() const { return keys_; }

 private:
  termios before_{};
  bool keys_ = false;
};

// Line ends clear the rest of what stood there before: no flicker.
std::string frame(std::string_view text) {
  std::string out = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') out += "\x1b[K";
    out += c;
  }
  return out + "\x1b[K\x1b[J";
}

bool wants_colours() {
  const char* unwanted = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) == 1 && (unwanted == nullptr || *unwanted == '\0');
}

std::size_t terminal_rows() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

// Takes the first key from what was typed: a character, or what a terminal sends for an arrow.
std::string_view take_key(std::string_view& typed) {
  std::size_t length = 1;
  if (typed.starts_with("\x1b[") || typed.starts_with("\x1bO")) {
    const auto end = std::find_if(typed.begin() + 2, typed.end(), [](char c) { return c >= '@'; });
    length = std::min(static_cast<std::size_t>(end - typed.begin()) + 1, typed.size());
  }
  const std::string_view key = typed.substr(0, length);
  typed.remove_prefix(length);
  return key;
}

void press(std::string_view key, Screen& screen, Window& window) {
  if (key == "1" || key == "2" || key == "3") {
    screen = static_cast<Screen>(key[0] - '0');
    window.to_top();
  }
  if (key == "\x1b[A" || key == "\x1bOA") window.move(-1);
  if (key == "\x1b[B" || key == "\x1bOB") window.move(1);
  if (key == "\x1b[5~") window.page(-1);
  if (key == "\x1b[6~") window.page(1);
}

int watch(collect::Collector& collector, const ViewerOptions& options) {
  loop::Loop loop;
  const RawTerminal terminal;
  ChartHistory history;
  Window window;
  Screen screen = Screen::kMain;
  const bool colours = wants_colours();
  const auto draw = [&] {
    collector.refresh();
    history.add(collector.snapshot());
    const std::string text = screen_text(collector.snapshot(), screen, history, true);
    const std::string shown = window.show(text, terminal_rows());
    if (!put(frame(colours ? coloured(shown) : shown))) loop.stop();
  };
  const auto key = [&](loop::Loop::Ready) {
    std::array<char, 64> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) return loop.unwatch(STDIN_FILENO);
    for (std::string_view typed(bytes.data(), static_cast<std::size_t>(count)); !typed.empty();) {
      const std::string_view pressed = take_key(typed);
      if (pressed == "q" || pressed == "Q") return loop.stop();
      press(pressed, screen, window);
    }
    draw();
  };
  loop.on_signal(SIGWINCH, draw);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    loop.on_signal(signal, [&loop] { loop.stop(); });
  }
  if (terminal.has_keys()) loop.watch(STDIN_FILENO, {.readable = true}, key);
  loop.every(options.refresh, draw);
  draw();
  loop.run();
  return 0;
}

int viewer(int argc, char** argv) {
  const ViewerOptions options = viewer_options(argc, argv);
  if (options.help) {
    return print(fmt::format(
        "Show telemetry and memory of each device, as the original tt_smi_umd did.\n"
        "`ttmem top` and `ttmem status` show more.\n"
        "Usage: {} [-w|--watch] [-r MS] [--sysfs]\n"
        "  -h, --help   print this and exit\n"
        "  -w, --watch  repeat, until q; keys: 1 main, 2 charts, 3 telemetry, arrows, q quit\n"
        "  -r MS        repeat every MS milliseconds (default 500)\n"
        "  --sysfs      accepted for scripts; telemetry always comes from sysfs\n",
        argv[0]));
  }
  collect::Collector collector({.totals_only = true, .host = true});
  if (options.watch) return watch(collector, options);
  collector.refresh();
  const std::string text = screen_text(collector.snapshot(), Screen::kMain, {}, false);
  return print(wants_colours() ? coloured(text) : text);
}

}  // namespace

std::optional<int> run_by_original_name(int argc, char** argv) {
  if (argc < 1) return std::nullopt;
  const std::string_view name = base_name(argv[0]);
  if (name == "allocation_server_poc") return server(argc, argv);
  if (name == "tt_smi_umd") return viewer(argc, argv);
  return std::nullopt;
}

}  // namespace ttmem::legacy
