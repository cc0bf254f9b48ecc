// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Findings for people and for tools: the same in both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/findings.hpp"
#include "ledger/snapshot.hpp"
#include "view/finding_parts.hpp"
#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

struct ExplainedFailure {
  ledger::ProcessName process;
  ledger::FailureView failure;
  explain::Findings findings;
  Sources sources;
  std::vector<std::uint32_t> devices;  // ids; empty = not known
};
// One of its process, before anything is found.
ExplainedFailure failure_of(const ledger::ProcessView& process, const ledger::FailureView& failure);

// One screen: verdict, sum, picture, who is in the way, what helps, what is not known.
std::string explain_text(const ExplainedFailure& failure, ledger::TimeNs now, const Style& style);
// The verdict and the first cure, in a few lines.
std::string hint_text(const ExplainedFailure& failure, const Style& style);
std::string explain_json(const ledger::Snapshot& snapshot, const ExplainedFailure& failure,
                         JsonLayout layout);

}  // namespace ttmem::view
