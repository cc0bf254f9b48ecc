// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/program_totals.hpp"

#include <algorithm>

namespace ttmem::ledger {
namespace {

template <typename Number>
void step(Number& number, bool up) {
  up ? ++number : --number;
}

template <typename Size>
void change(Wide& sum, Size bytes, bool up) {
  up ? sum += bytes : sum -= bytes;
}

// Cores that were never named count as one; a set that is not there counts nothing.
std::uint32_t core_count(const Catalog& catalog, CoresId id) {
  if (id == 0) return 1;
  const CoreSet* cores = catalog.cores(id);
  return cores ? cores->count : 0;
}

std::size_t index_of(KernelType type) {
  return std::min(static_cast<std::size_t>(type), kKernelTypes - 1);
}

}  // namespace

void ProgramTotals::count_program(KernelType type, bool loaded, bool has_l1, bool up) {
  step(loaded ? loaded_[index_of(type)] : registered_, up);
  if (has_l1) step(with_l1_, up);
}

void ProgramTotals::count_range(const RangeRecord& range, bool placed, bool up) {
  RangeGroup& group = ranges_[range.cores];
  step(group.count, up);
  change(group.bytes, range.size, up);
  if (placed) {
    const AddressRange addresses{range.address, add(range.address, range.size)};
    const bool changed = up ? group.placed.add(addresses) : group.placed.remove(addresses);
    if (changed) ++union_version_;
  }
  if (group.count == 0) ranges_.erase(range.cores);
}

void ProgramTotals::count_kernel(const KernelRecord& kernel, KernelType type, bool up) {
  const KernelKey key{type, kernel.core_type, kernel.cores};
  KernelGroup& group = kernels_[key];
  step(group.count, up);
  change(group.packed, kernel.packed_bytes, up);
  if (group.count == 0) kernels_.erase(key);
  const Code code{kernel.hash, kernel.packed_bytes};
  std::uint64_t& users = codes_[code];
  step(users, up);
  const bool first_or_last = users == (up ? 1u : 0u);
  if (code.hash == 0 || first_or_last) change(unique_, code.bytes, up);
  if (users == 0) codes_.erase(code);
}

bool ProgramTotals::empty() const {
  return ranges_.empty() && kernels_.empty() && registered_ == 0 && with_l1_ == 0 &&
         std::all_of(loaded_.begin(), loaded_.end(), [](std::uint64_t n) { return n == 0; });
}

SetFigures ProgramTotals::figures(const Catalog& catalog) const {
  SetFigures result;
  result.registered = registered_;
  result.with_l1 = with_l1_;
  for (const auto& [cores, group] : ranges_) {
    result.l1_allocated = add(result.l1_allocated, times(group.bytes, core_count(catalog, cores)));
  }
  for (std::size_t i = 0; i < kKernelTypes; ++i) result.by_type[i].programs = loaded_[i];
  for (const auto& [key, group] : kernels_) {
    const auto& [type, core_type, cores] = key;
    const std::uint64_t footprint = times(group.packed, core_count(catalog, cores));
    SetFigures::Kernels& figures = result.by_type[index_of(type)];
    figures.count += group.count;
    figures.footprint = add(figures.footprint, footprint);
    const auto place = static_cast<std::size_t>(core_type);
    if (place >= kCoreTypes) continue;
    result.by_core_type[place] = add(result.by_core_type[place], footprint);
  }
  return result;
}

std::uint64_t ProgramTotals::dangling(const Catalog& catalog) const {
  std::uint64_t count = 0;
  const auto missing = [&](CoresId id) { return id != 0 && !catalog.cores(id); };
  for (const auto& [cores, group] : ranges_) count += missing(cores) ? group.count : 0;
  for (const auto& [key, group] : kernels_) count += missing(std::get<2>(key)) ? group.count : 0;
  return count;
}

}  // namespace ttmem::ledger
