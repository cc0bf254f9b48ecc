// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Standard output. A reader that left (`ttmem dump | head`) ends the command quietly and well; any
// other error (a full disk) is said and fails.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "view/style.hpp"

namespace ttmem::cli {

// How standard output shows looks, as the environment says; a pipe shows none. The theme is "dark",
// "light", or what the terminal tells.
view::Ansi ansi_of_output(std::string_view theme = "auto");

class Output {
 public:
  // Colours where a person looks: a terminal, and no NO_COLOR in the environment.
  Output();

  const view::Style& style() const { return style_; }
  void tell_past(std::string options) { style_.past = std::move(options); }
  bool is_terminal() const { return terminal_; }

  // Collects; large texts are written at once.
  void write(std::string_view text);
  void flush();
  // Nobody reads any more, or it cannot be written: stop.
  bool is_over();
  // Flushes, and says how it went as an ExitCode.
  int finish();

  // All of it in one call.
  static int print(std::string_view text);

 private:
  std::string waiting_;
  view::Style style_;
  bool terminal_ = false;
  bool closed_ = false;
  int error_ = 0;
};

}  // namespace ttmem::cli
