// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/figures.hpp"

#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

KernelTypeFigures sum(const KernelTypeFigures& a, const KernelTypeFigures& b) {
  return {add(a.count, b.count), add(a.programs, b.programs), add(a.footprint, b.footprint)};
}

}  // namespace

KernelTypeFigures KernelFigures::system() const {
  return sum(by_type[static_cast<std::size_t>(KernelType::kFabric)],
             by_type[static_cast<std::size_t>(KernelType::kDispatch)]);
}

KernelTypeFigures KernelFigures::total() const {
  return sum(by_type[static_cast<std::size_t>(KernelType::kApplication)], system());
}

}  // namespace ttmem::ledger
