// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From a question to the tier that answers it, and from the rows of a series to points.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "serve/history/history.hpp"
#include "serve/history/row.hpp"
#include "serve/history/up_times.hpp"

namespace ttmem::serve::history {

// Where and how to read: whole steps, each of a whole number of the tier's.
struct Plan {
  std::size_t tier = 0;
  std::int64_t from_s = 0, to_s = 0, step_s = 0;
  std::int64_t tier_step_s() const { return kTierTable[tier].step_s; }
  std::int64_t points() const { return (to_s - from_s) / step_s; }
};

// The coarsest tier that has the whole time and fits the step; else the finest that has it.
// `kept_from_s`: since when each tier is complete.
Result<Plan> plan(const Query& query, const std::array<std::int64_t, kTiers>& kept_from_s,
                  std::int64_t now_s);

// `rows` by number of the tier's step; `before` is what the series was before the first of them.
std::vector<Point> lay_out(const Plan& plan, const std::map<std::int64_t, Row>& rows, Value before,
                           const UpTimes& up, std::int64_t kept_from_s);

}  // namespace ttmem::serve::history
