// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the daemon says about itself, on standard error: a line of text or of JSON each. With the
// original's log, which goes to standard output, only warnings and errors.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "legacy/log.hpp"
#include "loop/loop.hpp"
#include "serve/config.hpp"

namespace ttmem::serve {

class DaemonLog {
 public:
  explicit DaemonLog(LogFormat format);
  ~DaemonLog();

  void set_format(LogFormat format);
  void info(std::string_view message);
  void warn(std::string_view message);
  void error(std::string_view message);

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
  LogFormat format_;
};

// The original's server without the original's log: what it refuses is a warning, what it reports
// is told line by line, some hundred in each turn of the loop, and single messages are not logged.
class LegacyLines final : public legacy::Log {
 public:
  // Both outlive its use.
  LegacyLines(DaemonLog& log, loop::Loop& loop) : log_(log), loop_(loop) {}
  void event(std::string_view) override {}
  void report(std::string_view lines) override;
  void error(std::string_view lines) override;
  bool wants_events() const override { return false; }
  // Writes what waits.
  void finish();

 private:
  struct Waiting {
    bool is_error = false;
    std::string lines;
    std::size_t written = 0;  // bytes
  };
  void add(bool is_error, std::string_view lines);
  void write(std::size_t most_lines);
  void write_later();

  DaemonLog& log_;
  loop::Loop& loop_;
  std::deque<Waiting> waiting_;
  bool is_due_ = false;
};

}  // namespace ttmem::serve
