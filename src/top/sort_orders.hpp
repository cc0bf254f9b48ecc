// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// In which orders each list can be. Large, fast, long and late ones come first; names and pids
// ascend. A new order is a row in a table of sort_orders.cpp; a column names its order by the
// title.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "ledger/snapshot.hpp"
#include "top/list_rows.hpp"

namespace ttmem::top {

template <typename Row>
struct SortOrder {
  std::string_view title;  // in the menu
  bool (*before)(const Row& a, const Row& b);
};

// The first is the usual one.
template <typename Row>
using SortOrders = std::span<const SortOrder<Row>>;

SortOrders<ProcessRow> process_orders();
SortOrders<ProcessRow> dead_orders();
SortOrders<const ledger::HoldingView*> kernel_orders();
SortOrders<const ledger::ProgramView*> program_orders();
SortOrders<const HoldingGroup*> group_orders();
SortOrders<fleet::JobRow> job_orders();
SortOrders<const fleet::HostRow*> host_orders();

// The titles of the list that is shown; empty: it has one order only.
std::vector<std::string_view> order_titles(const ScreenState& state);

template <typename Row>
void sort_rows(std::vector<Row>& rows, SortOrders<Row> orders, const ListState& list) {
  const auto before = orders[static_cast<std::size_t>(list.sort)].before;
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return list.reversed ? before(b, a) : before(a, b);
  });
}

}  // namespace ttmem::top
