// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Why it did not fit, and what helps. Pure: a failure and its picture in, findings out.
#pragma once

#include "explain/findings.hpp"
#include "ledger/snapshot.hpp"
#include "ledger/space_picture.hpp"

namespace ttmem::explain {

// `picture` may be null: then the figures of the message decide, and there are no cures.
Findings explain_failure(const ledger::FailureView& failure, const ledger::FailurePicture* picture);

}  // namespace ttmem::explain
