// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one process holds, told with where it comes from: every buffer and every program that is in
// a total of a device, once. origin_totals.hpp adds them up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ledger/figures.hpp"
#include "ledger/records.hpp"

namespace ttmem::ledger {

struct LiveState;

// Bytes are those on each device of the set.
struct OriginShare {
  OriginId origin = 0;
  StringId name = 0;  // of the launch that followed (buffer), or of the program itself
  SetIndex set = 0;
  Ticks since = 0;
  std::optional<Space> space;  // of a buffer; empty: a program
  Figure taken;                // of a buffer
  std::uint64_t requested = 0;
  std::uint64_t program_l1 = 0, kernels = 0;
};

void for_each_share(const LiveState& live, const std::function<void(const OriginShare&)>& visit);

}  // namespace ttmem::ledger
