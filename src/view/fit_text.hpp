// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What would fit, for people and for tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "explain/fit.hpp"
#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

struct FitAnswer {
  std::string device;  // "an empty n150"
  bool empty = false;
  std::uint64_t chips = 1;  // that each hold what the rows say
  explain::Fit fit;
  std::string variable;                 // that was solved for; "" = none
  std::optional<std::uint64_t> solved;  // its largest value; empty: no limit
};

std::string fit_text(const FitAnswer& answer, const Style& style);
std::string fit_json(const ledger::Snapshot& snapshot, const FitAnswer& answer, JsonLayout layout);

}  // namespace ttmem::view
