// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From what a collector knows to the findings about a device as it is now.
#pragma once

#include <cstdint>

#include "collect/collector.hpp"
#include "view/live_text.hpp"

namespace ttmem::cli {

// Of every process that has it open. The collector keeps events: what they still tell of the last
// seconds is what the forecast rests on.
view::ExplainedDevice explained_live(collect::Collector& collector, std::uint32_t device);

}  // namespace ttmem::cli
