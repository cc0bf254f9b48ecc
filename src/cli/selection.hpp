// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the user asked to see: a snapshot cut down to one device, and clear words when a device,
// process or core is not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::cli {

// Options that several commands have.
struct Selection {
  std::optional<std::uint32_t> device;
  std::optional<std::int32_t> pid;
};

// Why the selection finds nothing, with what there is instead; "" if it finds something.
std::string missing(const ledger::Snapshot& snapshot, const Selection& selection);

// The selected device alone, with the processes that have it; everything if none is selected.
ledger::Snapshot selected(const ledger::Snapshot& snapshot, const Selection& selection);

// Not one of the directories can be looked into: words for the user; "" if all is well.
std::string unusable_directory(const std::vector<std::string>& directories);

}  // namespace ttmem::cli
