// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/say.hpp"

#include <signal.h>

#include <cstdio>

namespace ttmem::cli {

void say_text(const std::string& text) {
  // Ignored for this moment only: a program that we start would inherit it.
  const auto before = signal(SIGPIPE, SIG_IGN);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  signal(SIGPIPE, before);
}

}  // namespace ttmem::cli
