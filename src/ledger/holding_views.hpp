// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Every holding and every program of one process, told one by one.
#pragma once

#include <functional>
#include <vector>

#include "ledger/books.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

// By slot: buffers, programs with their kernels and ranges, and traces. What counts only through
// something that is not there (a kernel without its program) is left out.
void for_each_holding(const Books& books, const Naming& naming,
                      const std::function<void(const HoldingView&)>& visit);
// Live programs, by slot; those that only a trace keeps are left out.
std::vector<ProgramView> program_views(const Books& books, const Naming& naming);

}  // namespace ttmem::ledger
