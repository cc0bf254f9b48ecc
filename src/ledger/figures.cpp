// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/figures.hpp"

#include <algorithm>

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

void merge(Merge how, const Figure& from, Figure& to) {
  switch (how) {
    case Merge::kSum:
      return add_to(to, from);
    case Merge::kLargest:
      if (from) to = std::max(to.value_or(0), *from);
      return;
    case Merge::kSmallest:
      if (from) to = std::min(to.value_or(kMost), *from);
      return;
    case Merge::kDerived:
      return;
  }
}

void lower_headroom(const Headroom& from, Headroom& to) {
  if (from.min && (!to.min || *from.min < *to.min)) to.core = from.core;
  lower(to.min, from.min);
  lower(to.min_reserved, from.min_reserved);
}

}  // namespace

KernelTypeFigures KernelFigures::system() const {
  return sum(of(KernelType::kFabric), of(KernelType::kDispatch));
}

KernelTypeFigures KernelFigures::total() const {
  return sum(of(KernelType::kApplication), system());
}

namespace {

// Of some of its buffers nobody told the blocks: what is taken is that of the others.
bool is_partial(const SpaceFigures& space) {
  return space.requested.value_or(0) > space.taken.value_or(0);
}

}  // namespace

Figure DeviceFigures::l1_used() const {
  const Figure& buffers = space(Space::kL1).taken;
  if (!buffers || !program_l1.resident) return std::nullopt;
  if (is_partial(space(Space::kL1)) || is_partial(space(Space::kL1Small))) return std::nullopt;
  return add(add(*buffers, space(Space::kL1Small).taken.value_or(0)), *program_l1.resident);
}

const RingFigures* fullest_worker_ring(const std::vector<RingFigures>& rings) {
  const RingFigures* fullest = nullptr;
  for (const RingFigures& ring : rings) {
    if (ring.core_type != CoreType::kTensix) continue;
    if (fullest == nullptr || ring.used > fullest->used) fullest = &ring;
  }
  return fullest;
}

void DeviceSum::add(const DeviceFigures& process, bool alive) {
  for_each_figure(
      [alive](const FigureGroup&, const FigureRow& row, Figure& to, const Figure& from) {
        if (alive || row.merge == Merge::kLargest) merge(row.merge, from, to);
      },
      sum_, process);
  if (!alive) return;
  sum_.kernels.stand_in = sum_.kernels.stand_in || process.kernels.stand_in;
  std::vector<SharedCode>& shared = sum_.kernels.shared_code;
  shared.insert(shared.end(), process.kernels.shared_code.begin(),
                process.kernels.shared_code.end());
  keep_most_repeated(shared);
  sum_.rings.insert(sum_.rings.end(), process.rings.begin(), process.rings.end());
  lower_headroom(process.headroom, sum_.headroom);
  const bool same_basis = !any_alive_ || sum_.basis == process.basis;
  sum_.basis = same_basis ? process.basis : Basis::kMixed;
  any_alive_ = true;
}

DeviceFigures DeviceSum::result(bool only_one) {
  if (!any_alive_) {
    for_each_figure(
        [](const FigureGroup&, const FigureRow& row, Figure& figure) {
          if (row.idle == Idle::kZero) figure = figure.value_or(0);
        },
        sum_);
  }
  sum_.peak_basis = only_one ? PeakBasis::kExact : PeakBasis::kObserved;
  return sum_;
}

void keep_most_repeated(std::vector<SharedCode>& shared) {
  std::ranges::stable_sort(
      shared, [](const SharedCode& a, const SharedCode& b) { return a.repeated() > b.repeated(); });
  if (shared.size() > kSharedCodeTold) shared.resize(kSharedCodeTold);
}

}  // namespace ttmem::ledger
