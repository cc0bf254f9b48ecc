// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The system as nobody wants it: the n-th allocation, read, write, open, map, lock or clock call
// fails, once; and clocks that go as a test says. The calls of this program end here instead of in
// the C library. Built with TTMEM_PRELOADED it is a library to put before a program as it ships;
// allocations do not fail there.
#pragma once

#include <cstdint>

namespace ttmem::faults {

// From now on calls are counted, and the n-th fails. 0: they are counted only.
void fail_at(std::uint64_t n);
// No call fails any more. Returns how many were counted.
std::uint64_t stop_failing();

// Nanoseconds that both clocks, or the wall clock alone, are ahead of the machine's.
void advance_clocks(std::int64_t ns);
void jump_wall_clock(std::int64_t ns);

}  // namespace ttmem::faults
