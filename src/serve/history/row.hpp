// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How one figure moved within one step of a tier. Rows exist only for steps with a change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ttmem::serve::history {

using Value = std::optional<std::int64_t>;

struct Row {
  Value first;  // what was last known before the step: so a reader need not look further back
  Value min, max;
  Value last;
};

inline void include(Row& row, const Value& value) {
  if (!value) return;
  row.min = std::min(row.min.value_or(*value), *value);
  row.max = std::max(row.max.value_or(*value), *value);
}

// It went that high; how low it was is not said by that.
inline void raise(Row& row, const Value& peak) {
  if (!peak) return;
  row.max = std::max(row.max.value_or(*peak), *peak);
  if (!row.min) row.min = peak;
}

// `later` was made after `row`, for the same step. The statement kPutRow of store.cpp does the
// same.
inline void merge(Row& row, const Row& later) {
  include(row, later.min);
  include(row, later.max);
  row.last = later.last;
}

// The largest multiple of `step` that is not above `value`; also below zero.
constexpr std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

}  // namespace ttmem::serve::history
