// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/program_totals.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace ttmem::ledger {
namespace {

template <typename Number>
void step(Number& number, bool up) {
  TTMEM_DCHECK(up || number > 0);  // what goes had come: the same record counts in and out
  up ? ++number : --number;
}

template <typename Size>
void change(Wide& sum, Size bytes, bool up) {
  TTMEM_DCHECK(up || sum >= bytes);
  up ? sum += bytes : sum -= bytes;
}

std::size_t index_of(KernelType type) {
  return std::min(static_cast<std::size_t>(type), kKernelTypes - 1);
}

}  // namespace

SetFigures::Kernels& SetFigures::Kernels::operator+=(const Kernels& other) {
  count = add(count, other.count);
  programs = add(programs, other.programs);
  footprint = add(footprint, other.footprint);
  return *this;
}

SetFigures& SetFigures::operator+=(const SetFigures& other) {
  for (std::size_t i = 0; i < kKernelTypes; ++i) by_type[i] += other.by_type[i];
  estimated += other.estimated;
  for (std::size_t i = 0; i < kCoreTypes; ++i) {
    by_core_type[i] = add(by_core_type[i], other.by_core_type[i]);
  }
  code_bytes = add(code_bytes, other.code_bytes);
  registered = add(registered, other.registered);
  with_l1 = add(with_l1, other.with_l1);
  unknown_residency = add(unknown_residency, other.unknown_residency);
  l1_allocated = add(l1_allocated, other.l1_allocated);
  return *this;
}

void ProgramTotals::count_program(const ProgramRecord& program, bool has_l1, bool up) {
  step(program.loaded ? loaded_[index_of(program.type)] : registered_, up);
  if (has_l1) step(with_l1_, up);
  if (has_l1 && residency_is_unknown(program)) step(unknown_residency_, up);
}

void ProgramTotals::count_estimated_program(bool up) { step(estimated_programs_, up); }

void ProgramTotals::count_estimated_kernel(const KernelRecord& kernel, bool up) {
  KernelGroup& group = estimated_[kernel.cores];
  step(group.count, up);
  change(group.packed, kernel.packed_bytes, up);
  if (group.count == 0) estimated_.erase(kernel.cores);
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
  CodeUse& use = codes_[code];
  std::uint64_t& users = use.kernels;
  step(users, up);
  if (kernel.name != 0) {
    std::uint64_t& named = use.names[kernel.name];
    step(named, up);
    if (named == 0) use.names.erase(kernel.name);
  }
  const bool first_or_last = users == (up ? 1u : 0u);
  // Code without a hash cannot be recognised, so it counts each time.
  if (code.hash == 0 || first_or_last) change(unique_, code.bytes, up);
  if (users == 0) codes_.erase(code);
}

bool ProgramTotals::empty() const {
  return ranges_.empty() && kernels_.empty() && estimated_.empty() && registered_ == 0 &&
         with_l1_ == 0 && estimated_programs_ == 0 &&
         std::all_of(loaded_.begin(), loaded_.end(), [](std::uint64_t n) { return n == 0; });
}

SetFigures ProgramTotals::figures(const Catalog& catalog) const {
  SetFigures result;
  result.registered = registered_;
  result.with_l1 = with_l1_;
  result.unknown_residency = unknown_residency_;
  result.estimated.programs = estimated_programs_;
  for (const auto& [cores, group] : estimated_) {
    result.estimated.count += group.count;
    const std::uint64_t footprint = times(group.packed, catalog.core_count(cores));
    result.estimated.footprint = add(result.estimated.footprint, footprint);
  }
  for (const auto& [cores, group] : ranges_) {
    result.l1_allocated = add(result.l1_allocated, times(group.bytes, catalog.core_count(cores)));
  }
  for (std::size_t i = 0; i < kKernelTypes; ++i) result.by_type[i].programs = loaded_[i];
  for (const auto& [key, group] : kernels_) {
    const auto& [type, core_type, cores] = key;
    const std::uint64_t footprint = times(group.packed, catalog.core_count(cores));
    SetFigures::Kernels& figures = result.by_type[index_of(type)];
    figures.count += group.count;
    result.code_bytes = add(result.code_bytes, narrow(group.packed));
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

bool RangeUnion::covered(AddressRange range) const {
  const auto after = std::upper_bound(
      merged_.begin(), merged_.end(), range.begin,
      [](std::uint64_t address, const AddressRange& r) { return address < r.begin; });
  return after != merged_.begin() && range.end <= std::prev(after)->end;
}

bool RangeUnion::add(AddressRange range) {
  if (range.begin >= range.end) return false;
  // Most programs of a model have the ranges of another one: those cost a lookup and nothing more.
  if (++references_[range] > 1) return false;
  if (!stale_ && covered(range)) return false;
  stale_ = true;
  return true;
}

bool RangeUnion::remove(AddressRange range) {
  if (range.begin >= range.end) return false;
  const auto found = references_.find(range);
  TTMEM_CHECK(found != references_.end());
  if (--found->second > 0) return false;
  references_.erase(found);
  stale_ = true;
  return true;
}

const std::vector<AddressRange>& RangeUnion::ranges() const {
  if (stale_) {
    std::vector<AddressRange> all;
    all.reserve(references_.size());
    for (const auto& [range, count] : references_) all.push_back(range);
    merged_ = merged(std::move(all));
    stale_ = false;
  }
  return merged_;
}

}  // namespace ttmem::ledger
