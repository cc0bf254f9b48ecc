// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Whether this is a build under a sanitizer, which needs addresses, memory and time for itself. GCC
// tells it by macros, clang by features.
#pragma once

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define TTMEM_FINDS_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

namespace ttmem::support {

#if defined(TTMEM_FINDS_LEAKS) || defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// While one lives, what is allocated may be lost: that is so by design.
#ifdef TTMEM_FINDS_LEAKS
using MayLeak = __lsan::ScopedDisabler;
#else
struct MayLeak {
  MayLeak() {}
};
#endif

}  // namespace ttmem::support
