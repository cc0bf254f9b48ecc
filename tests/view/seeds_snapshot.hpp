// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The worked example as a snapshot that never changes: one Wormhole chip with the seeds' kernels,
// circular buffers and buffers, held by one living process, and a second process that died.
#pragma once

#include "ledger/snapshot.hpp"

namespace ttmem::test {

inline constexpr ledger::TimeNs kNow = 1'790'000'000'000'000'000;
inline constexpr std::uint64_t kSecondNs = 1'000'000'000;

ledger::DeviceFigures seeds_figures();
ledger::Snapshot seeds_snapshot();

}  // namespace ttmem::test
