// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's log: where its lines go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem::legacy {

// A quiet server drops events and keeps the rest.
class Log {
 public:
  virtual ~Log() = default;
  virtual void event(std::string_view lines) = 0;   // one per message
  virtual void report(std::string_view lines) = 0;  // dumps, statistics, dead processes
  virtual void error(std::string_view lines) = 0;   // what was refused, and why
  virtual void flush() {}
  // False: event() does nothing, so that nobody needs to write the line.
  virtual bool wants_events() const { return true; }
};

// On two descriptors: events and reports on the first, errors on the second, as
// the original used stdout and stderr. A reader that does not read never makes the server wait:
// what does not fit is kept up to a limit, then dropped and counted, and the count is told.
class StreamLog final : public Log {
 public:
  // Quiet drops events and nothing else. The descriptors stay the caller's.
  StreamLog(int output, int errors, bool quiet);

  void event(std::string_view lines) override;
  void report(std::string_view lines) override;
  void error(std::string_view lines) override;
  void flush() override;
  bool wants_events() const override { return !quiet_; }

 private:
  struct Stream {
    int descriptor = -1;
    std::string waiting;
    std::uint64_t lost = 0;  // lines
  };
  static void put(Stream& stream, std::string_view lines);
  static void write(Stream& stream);

  Stream output_, errors_;
  bool quiet_;
};

}  // namespace ttmem::legacy
