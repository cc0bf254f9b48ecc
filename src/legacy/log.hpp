// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <string_view>

namespace ttmem::legacy {

// Where the lines of the original's log go. A quiet server drops events and keeps the rest.
class Log {
 public:
  virtual ~Log() = default;
  virtual void event(std::string_view lines) = 0;   // one a message
  virtual void report(std::string_view lines) = 0;  // dumps, statistics, dead processes
  virtual void error(std::string_view lines) = 0;   // what was refused, and why
  virtual void flush() {}
  // False: event() does nothing, so that nobody needs to write the line.
  virtual bool wants_events() const { return true; }
};

}  // namespace ttmem::legacy
