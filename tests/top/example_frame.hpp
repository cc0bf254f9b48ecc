// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A made-up host that every view has something to say about: two n150 and two p150, four living
// processes (one with a name in wide characters, one with a failure), two dead ones.
#pragma once

#include "top/frame.hpp"
#include "top/history.hpp"
#include "top/views.hpp"

namespace ttmem::top {

inline constexpr ledger::TimeNs kExampleTime = 1'790'000'000'000'000'000;

// With the details of every view.
Frame example_frame();

// Four hosts of an engine, one of them stale, and a job over two of them that lost a rank.
Frame fleet_frame();

// Two minutes of that host, in which the first process grows.
History example_history(const Frame& frame);

// `devices` and `processes` of them, for size and speed.
Frame crowded_frame(int devices, int processes);

}  // namespace ttmem::top
