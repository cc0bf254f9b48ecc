// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What was read with somebody's words, for those who may not have them: the same without lines,
// regions and stacks.
#pragma once

#include <deque>

#include "explain/leaks.hpp"
#include "ledger/event.hpp"

namespace ttmem::serve {

std::deque<ledger::EventView> without_words(std::deque<ledger::EventView> events);
explain::LeakReport without_words(explain::LeakReport report);

}  // namespace ttmem::serve
