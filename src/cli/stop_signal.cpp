// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/stop_signal.hpp"

#include <cerrno>
#include <ctime>

namespace ttmem::cli {

StopSignal::StopSignal() {
  sigemptyset(&signals_);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, each);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

StopSignal::~StopSignal() { let_through(); }

void StopSignal::let_through() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool StopSignal::wait(std::chrono::nanoseconds time) {
  stopped_ = stopped_ || take(time).has_value();
  return stopped_;
}

std::optional<StopSignal::Came> StopSignal::take(std::chrono::nanoseconds time) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  timespec limit{};
  limit.tv_sec = static_cast<std::time_t>(seconds.count());
  limit.tv_nsec = static_cast<long>((time - seconds).count());
  siginfo_t came{};
  const int number = sigtimedwait(&signals_, &came, &limit);
  if (number <= 0) return std::nullopt;
  return Came{number, came.si_code <= 0};
}

}  // namespace ttmem::cli
