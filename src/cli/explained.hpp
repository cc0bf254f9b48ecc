// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From what a collector knows to the findings about one failure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "view/explain_text.hpp"
#include "view/selection.hpp"

namespace ttmem::cli {

// The newest failure of the processes that are selected; with `number`, the newest of that number.
// Empty if there is none. The dead count as well.
std::optional<view::ExplainedFailure> explained(const collect::Collector& collector,
                                                const view::Selection& selection,
                                                std::optional<std::uint32_t> number);

// The text of the line that each of them names, where it can be read.
std::map<std::string, std::string> sources_of(const std::vector<explain::Cure>& cures);

}  // namespace ttmem::cli
