// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How much of a long recording is read, on standard error, where a person waits in front of it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "cli/say.hpp"

namespace ttmem::cli {

class ReadProgress {
 public:
  ReadProgress() = default;
  ~ReadProgress() {
    if (shown_) say("\r             \r");
  }
  ReadProgress(const ReadProgress&) = delete;
  ReadProgress& operator=(const ReadProgress&) = delete;

  // From 0 to 1. A recording that is read at once shows nothing.
  void show(double part) {
    if (!terminal_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    shown_ = true;
    say("\r{:3.0f} % read ", std::clamp(100 * part, 0.0, 100.0));
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace ttmem::cli
