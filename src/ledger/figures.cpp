// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/figures.hpp"

#include "ledger/figure_table.hpp"

namespace ttmem::ledger {
namespace {

KernelTypeFigures sum(const KernelTypeFigures& a, const KernelTypeFigures& b) {
  KernelTypeFigures result = a;
  for (const auto& [member, row] : figure_table::kOfKernelType) {
    add_to(result.*member, b.*member);
  }
  return result;
}

}  // namespace

KernelTypeFigures KernelFigures::system() const {
  return sum(of(KernelType::kFabric), of(KernelType::kDispatch));
}

KernelTypeFigures KernelFigures::total() const {
  return sum(of(KernelType::kApplication), system());
}

Figure DeviceFigures::l1_used() const {
  const Figure& buffers = space(Space::kL1).taken;
  if (!buffers || !program_l1.resident) return std::nullopt;
  return add(add(*buffers, space(Space::kL1Small).taken.value_or(0)), *program_l1.resident);
}

}  // namespace ttmem::ledger
