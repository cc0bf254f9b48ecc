// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one room may rely on when another calls it. An assertion that fails is a mistake of ours:
// the process says where and ends, because going on would show wrong figures.
//
//   TTMEM_CHECK(condition)   in every build: for what costs nothing beside the work that follows
//   TTMEM_DCHECK(condition)  in debug, sanitizer and fuzz builds; elsewhere it is not even
//   evaluated
//
// What somebody else wrote (a file, a request, a command line) is never asserted: it is refused,
// with an error that says what to do. And nothing is asserted in a host: there an anomaly is
// counted, and the host goes on. The build defines TTMEM_IN_HOST for those sources.
#pragma once

#ifdef TTMEM_IN_HOST
#error "this source runs in other people's processes: count an anomaly instead of asserting"
#endif

#include <cstdio>
#include <cstdlib>

namespace ttmem {

[[noreturn, gnu::cold]] inline void assertion_failed(const char* condition, const char* file,
                                                     int line) {
  std::fprintf(stderr, "ttmem: this should not happen, please report it: %s:%d: %s\n", file, line,
               condition);
  std::abort();
}

}  // namespace ttmem

#define TTMEM_CHECK(...)                \
  ((__VA_ARGS__) ? static_cast<void>(0) \
                 : ::ttmem::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__))

#ifdef NDEBUG
#define TTMEM_DCHECK(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#else
#define TTMEM_DCHECK(...) TTMEM_CHECK(__VA_ARGS__)
#endif
