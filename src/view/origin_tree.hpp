// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Stacks as a tree: each step with everything inside it, in the order in which it is shown.
#pragma once

#include <string>
#include <vector>

#include "ledger/origin_totals.hpp"

namespace ttmem::view {

struct OriginStep {
  std::string name;  // "" = not known
  std::string path;  // the names around it and its own: what it is known by
  std::size_t depth = 0;
  std::size_t branches = 0;  // how often the tree branches on the way to it
  bool goes_on = false;      // it has all that the step around it has: no branch lies between
  bool has_inside = false;
  ledger::OriginTotal total;  // its own path is empty
};

// From the outside in; of the steps inside one, that which takes the most first.
std::vector<OriginStep> origin_tree(const std::vector<ledger::OriginTotal>& stacks);

}  // namespace ttmem::view
