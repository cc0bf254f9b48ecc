// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which holdings `ttmem dump` lists, and in which order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::cli {

// No kinds named: all of them.
bool is_of_kind(const ledger::HoldingView& holding, const std::vector<std::string>& kinds);
bool is_on_device(const ledger::HoldingView& holding, std::uint32_t device);

// "size": largest first; "age": oldest first; "name", "pid", "device": ascending; "": as they come.
void sort_holdings(std::vector<ledger::HoldingView>& holdings, const std::string& key);

}  // namespace ttmem::cli
