// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A device as it is now, for people and for tools: how full, how scattered, what would fail next.
#pragma once

#include <string>
#include <vector>

#include "explain/live.hpp"
#include "ledger/snapshot.hpp"
#include "view/finding_parts.hpp"
#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

// The device as one process has it.
struct ExplainedProcess {
  ledger::Owner process = ledger::nobody();
  explain::LiveFindings findings;
  Sources sources;
};

struct ExplainedDevice {
  std::uint32_t device = 0;
  std::vector<ExplainedProcess> processes;  // that have it open
};

std::string live_text(const ExplainedDevice& device, ledger::TimeNs now, const Style& style);
std::string live_json(const ledger::Snapshot& snapshot, const ExplainedDevice& device,
                      JsonLayout layout);

}  // namespace ttmem::view
