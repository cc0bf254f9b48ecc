// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a thread carries: the region it is in, and a mark that it is inside the recorder. At most 64
// bytes and initial-exec, because a library that is loaded late gets no more.
#pragma once

#include <cstdint>

#include "client/origins.hpp"

namespace ttmem::client {

struct ThreadState {
  ttmem_origin_t region;  // the innermost; a node knows the one around it
  std::uint32_t owner;    // low bits of the recorder's nonce: regions of before a fork mean nothing
  std::uint32_t unnamed;  // regions inside of it that found no room: their exits match
  bool inside;

  void enter(std::uint32_t recorder, Origins& origins, ttmem_string_t name, ttmem_string_t line) {
    if (owner != recorder) {
      region = 0;
      unnamed = 0;
      owner = recorder;
    }
    const ttmem_origin_t entered = unnamed == 0 ? origins.region(region, name, line) : 0;
    if (entered != 0) {
      region = entered;
    } else {
      ++unnamed;
    }
  }
  void leave(std::uint32_t recorder, const Origins& origins) {
    if (owner != recorder) return;
    if (unnamed != 0) {
      --unnamed;
    } else {
      region = origins.around(region);
    }
  }
  ttmem_origin_t region_in(std::uint32_t recorder) const { return owner == recorder ? region : 0; }
};
static_assert(sizeof(ThreadState) <= 64);

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is constinit
extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

}  // namespace ttmem::client
