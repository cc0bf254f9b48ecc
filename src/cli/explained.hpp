// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From what a collector knows to the findings about one failure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "view/explain_text.hpp"

namespace ttmem::cli {

using IsAsked = std::function<bool(const ledger::ProcessName& process)>;

// The newest failure of the processes that are asked about; with `number`, the newest of that
// number. Empty if there is none. The dead count as well.
std::optional<view::ExplainedFailure> explained(const collect::Collector& collector,
                                                const IsAsked& is_asked,
                                                std::optional<std::uint32_t> number);

// The text of the line that each of them names, where it can be read and is what that process ran.
std::map<std::string, std::string> sources_of(const std::vector<explain::Cure>& cures,
                                              const ledger::Snapshot& snapshot,
                                              const ledger::ProcessName& process);

}  // namespace ttmem::cli
