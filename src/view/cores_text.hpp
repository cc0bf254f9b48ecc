// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem status --cores`: the L1 of every core in exact bytes, adding up to its size; and the map
// of one core, bottom to top, with names and owners.
#pragma once

#include <string>

#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

std::string cores_text(const DeviceCores& device, const Style& style);
// Needs a core with its map.
std::string core_map_text(std::uint32_t device_id, const ledger::CoreView& core,
                          const Style& style);

}  // namespace ttmem::view
