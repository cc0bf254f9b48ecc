// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem events`: one plain line per event, with time, process and devices.
#pragma once

#include <string>

#include "ledger/event.hpp"
#include "view/style.hpp"

namespace ttmem::view {

// With its line break.
std::string event_text(const ledger::EventView& event, const Style& style);

}  // namespace ttmem::view
