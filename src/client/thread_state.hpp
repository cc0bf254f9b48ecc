// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a thread carries: its tags, and a mark that it is inside the recorder. At most 64 bytes and
// initial-exec, because a library that is loaded late gets no more.
#pragma once

#include <cstdint>

#include "client/book.hpp"

namespace ttmem::client {

struct ThreadState {
  static constexpr std::uint32_t kLevels = 6;

  Origin tags[kLevels];
  std::uint32_t owner;  // low bits of the recorder's nonce: tags of before a fork mean nothing
  std::uint16_t depth;  // may exceed kLevels; the pops then match
  bool inside;

  void push(std::uint32_t recorder, Origin origin);
  void pop(std::uint32_t recorder);
  Origin origin(std::uint32_t recorder) const {
    if (depth == 0 || owner != recorder) return {};
    return tags[depth < kLevels ? depth - 1 : kLevels - 1];
  }
};
static_assert(sizeof(ThreadState) <= 64);

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is constinit
extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

}  // namespace ttmem::client
