// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/figure_sums.hpp"

#include <algorithm>

#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

void sum(Figure& to, const Figure& from) {
  if (from) to = add(to.value_or(0), *from);
}
void largest(Figure& to, const Figure& from) {
  if (from) to = std::max(to.value_or(0), *from);
}
void smallest(Figure& to, const Figure& from) {
  if (from) to = std::min(to.value_or(kMost), *from);
}

Basis combined(Basis a, Basis b) { return a == b ? a : Basis::kMixed; }

// A device that no living process uses shows zero.
void zero_if_unknown(DeviceFigures& figures) {
  const auto zero = [](Figure& figure) { figure = figure.value_or(0); };
  for (SpaceFigures& space : figures.spaces) {
    zero(space.taken), zero(space.occupied), zero(space.requested), zero(space.count);
  }
  ProgramL1Figures& l1 = figures.program_l1;
  zero(l1.resident), zero(l1.reserved), zero(l1.allocated), zero(l1.count);
  KernelFigures& kernels = figures.kernels;
  for (Figure* figure : {&kernels.in_dram, &kernels.unique_bytes, &kernels.dispatches,
                         &kernels.first_loads, &kernels.cache_hits, &kernels.reloads,
                         &kernels.evictions, &kernels.captures, &kernels.replays}) {
    zero(*figure);
  }
}

}  // namespace

Figure l1_used(const DeviceFigures& figures) {
  const Figure& buffers = figures.space(Space::kL1).taken;
  const Figure& resident = figures.program_l1.resident;
  if (!buffers || !resident) return std::nullopt;
  return add(add(*buffers, figures.space(Space::kL1Small).taken.value_or(0)), *resident);
}

void DeviceSum::add_geometry(const DeviceFigures& process) {
  for (std::size_t space = 0; space < kSpaces; ++space) {
    largest(sum_.spaces[space].capacity, process.spaces[space].capacity);
    largest(sum_.spaces[space].peak, process.spaces[space].peak);
  }
  largest(sum_.l1_capacity, process.l1_capacity);
  largest(sum_.program_l1.peak, process.program_l1.peak);
}

void DeviceSum::add_space(const SpaceFigures& from, SpaceFigures& to) {
  sum(to.taken, from.taken);
  sum(to.occupied, from.occupied);
  sum(to.requested, from.requested);
  sum(to.count, from.count);
  smallest(to.largest_free, from.largest_free);
}

void DeviceSum::add_kernels(const KernelFigures& from, KernelFigures& to) {
  for (std::size_t i = 0; i < kKernelTypes; ++i) {
    to.by_type[i].count = ledger::add(to.by_type[i].count, from.by_type[i].count);
    to.by_type[i].programs = ledger::add(to.by_type[i].programs, from.by_type[i].programs);
    to.by_type[i].footprint = ledger::add(to.by_type[i].footprint, from.by_type[i].footprint);
  }
  for (std::size_t i = 0; i < kCoreTypes; ++i) {
    to.by_core_type[i] = ledger::add(to.by_core_type[i], from.by_core_type[i]);
  }
  to.registered = ledger::add(to.registered, from.registered);
  sum(to.in_dram, from.in_dram);
  sum(to.unique_bytes, from.unique_bytes);
  sum(to.dispatches, from.dispatches);
  sum(to.first_loads, from.first_loads);
  sum(to.cache_hits, from.cache_hits);
  sum(to.reloads, from.reloads);
  sum(to.evictions, from.evictions);
  sum(to.captures, from.captures);
  sum(to.replays, from.replays);
  to.stand_in = to.stand_in || from.stand_in;
}

void DeviceSum::lower_headroom(const Headroom& from) {
  Headroom& to = sum_.headroom;
  if (from.min && (!to.min || *from.min < *to.min)) {
    to.min = from.min;
    to.core = from.core;
  }
  lower(to.min_reserved, from.min_reserved);
}

void DeviceSum::add(const DeviceFigures& process) {
  for (std::size_t i = 0; i < kSpaces; ++i) add_space(process.spaces[i], sum_.spaces[i]);
  sum(sum_.program_l1.resident, process.program_l1.resident);
  sum(sum_.program_l1.reserved, process.program_l1.reserved);
  sum(sum_.program_l1.allocated, process.program_l1.allocated);
  sum(sum_.program_l1.count, process.program_l1.count);
  add_kernels(process.kernels, sum_.kernels);
  sum_.rings.insert(sum_.rings.end(), process.rings.begin(), process.rings.end());
  lower_headroom(process.headroom);
  sum_.basis = any_ ? combined(sum_.basis, process.basis) : process.basis;
  any_ = true;
}

DeviceFigures DeviceSum::result(bool only_one) {
  if (!any_) zero_if_unknown(sum_);
  sum_.l1_used = l1_used(sum_);
  sum_.peak_basis = only_one ? PeakBasis::kExact : PeakBasis::kObserved;
  return sum_;
}

}  // namespace ttmem::ledger
