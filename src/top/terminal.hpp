// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The terminal while the screen is on it: raw keys, the alternate screen, no cursor, the mouse. It
// is given back whatever happens: at the end, by a signal, by a crash. Only one may exist.
//
// It is driven by control sequences and not through curses: curses shows 16 million colours only
// with a terminal description that few systems have, and cannot be left from a signal handler.
#pragma once

#include <string_view>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "view/ansi.hpp"
#include "view/cells.hpp"

namespace ttmem::top {

class Terminal {
 public:
  struct Size {
    int columns = 0, rows = 0;
  };

  // Fails if standard input or output is not a terminal.
  static Result<Terminal> open(const view::Ansi& ansi);
  ~Terminal();
  Terminal(Terminal&& other) = default;
  Terminal& operator=(Terminal&&) = delete;

  Size size() const;
  // Sends what changed since the last grid, in one piece. False: the terminal is gone.
  bool show(const view::Grid& grid);
  // Everything is sent again with the next grid.
  void forget() { shown_ = {}; }

  // Readable when the size changed, or when a signal asks to stop, to go on or to end.
  int signal_descriptor() const { return signals_.get(); }

  enum class Signal { kNone, kRedraw, kStop, kEnd };
  Signal take_signal();

  // Gives the terminal back, stops the process as Ctrl-Z does, and takes the terminal again when
  // somebody lets the process go on; at once where nobody could.
  void stop();

 private:
  Terminal(const view::Ansi& ansi, FileDescriptor signals)
      : ansi_(ansi), signals_(std::move(signals)) {}

  view::Ansi ansi_;
  view::Grid shown_;
  FileDescriptor signals_;  // none: moved from
};

}  // namespace ttmem::top
