// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/holding_order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace ttmem::cli {
namespace {

using ledger::HoldingView;

// What it takes on a device: bytes of a buffer, footprint of a kernel, program L1 of a range.
std::uint64_t size_of(const HoldingView& holding) {
  for (const ledger::Figure& figure :
       {holding.taken, holding.footprint, holding.occupied, holding.requested}) {
    if (figure) return *figure;
  }
  return 0;
}

// Equal ones keep their order.
template <typename Key>
void sort_by(std::vector<HoldingView>& holdings, Key key) {
  std::vector<std::size_t> order(holdings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto left = key(holdings[a]);
    const auto right = key(holdings[b]);
    return left != right ? left < right : a < b;
  });
  std::vector<HoldingView> sorted;
  sorted.reserve(order.size());
  for (const std::size_t index : order) sorted.push_back(std::move(holdings[index]));
  holdings = std::move(sorted);
}

}  // namespace

void sort_holdings(std::vector<HoldingView>& holdings, const std::string& key) {
  if (key == "size") sort_by(holdings, [](const auto& each) { return ~size_of(each); });
  if (key == "age") sort_by(holdings, [](const auto& each) { return each.since; });
  if (key == "name") sort_by(holdings, [](const auto& each) { return each.name; });
  if (key == "pid") {
    sort_by(holdings, [](const auto& each) {
      return std::tuple(each.process->pid, each.process->start, each.process->segment);
    });
  }
  if (key == "device") sort_by(holdings, [](const auto& each) { return each.devices; });
}

}  // namespace ttmem::cli
