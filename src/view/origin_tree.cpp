// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/origin_tree.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/number_order.hpp"

namespace ttmem::view {
namespace {

using ledger::OriginTotal;

// A step of a stack with everything inside of it.
struct Step {
  OriginTotal total;
  std::size_t stacks = 0;
  std::map<std::string, Step, NumberOrder> inside;
};

void add_stack(Step& root, const OriginTotal& row) {
  static const std::vector<std::string> kUnknown = {""};
  Step* step = &root;
  for (const std::string& name : row.path.empty() ? kUnknown : row.path) {
    step = &step->inside[name];
    ledger::add_to(step->total, row);
    ++step->stacks;
  }
}

void add_steps(const Step& around, const std::string& path, std::size_t depth, std::size_t branches,
               std::vector<OriginStep>& steps) {
  std::vector<std::pair<const std::string*, const Step*>> inside;
  for (const auto& [name, step] : around.inside) inside.emplace_back(&name, &step);
  std::ranges::stable_sort(inside, std::greater{},
                           [](const auto& each) { return each.second->total.weight(); });
  for (const auto& [name, step] : inside) {
    const std::string own = path + "\n" + *name;
    const bool goes_on = depth > 0 && step->stacks == around.stacks;
    const std::size_t level = branches + (depth > 0 && !goes_on ? 1 : 0);
    steps.push_back({*name, own, depth, level, goes_on, !step->inside.empty(), step->total});
    add_steps(*step, own, depth + 1, level, steps);
  }
}

}  // namespace

std::vector<OriginStep> origin_tree(const std::vector<OriginTotal>& stacks) {
  Step root;
  for (const OriginTotal& row : stacks) add_stack(root, row);
  std::vector<OriginStep> steps;
  add_steps(root, "", 0, 0, steps);
  return steps;
}

}  // namespace ttmem::view
