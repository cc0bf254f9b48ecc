// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The document `snapshot` of docs/json.md read back, for one who was told it by a daemon. Whoever
// wrote it is not trusted: what is missing or of another type is "not known", what is too large or
// no such document at all is refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "ledger/snapshot.hpp"

namespace ttmem::view {

inline constexpr std::size_t kMostSnapshotBytes = 32u << 20;

// Written again, the result gives the same document. Process keys are new: the order in it.
std::optional<ledger::Snapshot> read_snapshot(std::string_view text);

}  // namespace ttmem::view
