// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/ring_choice.hpp"

namespace ttmem::view {

const ledger::RingFigures* fullest_worker_ring(const std::vector<ledger::RingFigures>& rings) {
  const ledger::RingFigures* fullest = nullptr;
  for (const ledger::RingFigures& ring : rings) {
    if (ring.core_type != ledger::CoreType::kTensix) continue;
    if (fullest == nullptr || ring.used > fullest->used) fullest = &ring;
  }
  return fullest;
}

}  // namespace ttmem::view
