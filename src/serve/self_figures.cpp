// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/self_figures.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace ttmem::serve {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ledger::TimeNs wall_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<ledger::TimeNs>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

view::SelfFigures own_cost() {
  view::SelfFigures figures;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  figures.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (statm >> size >> resident) {
    figures.resident_bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return figures;
}

}  // namespace ttmem::serve
