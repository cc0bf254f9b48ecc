// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the live programs of one device set add up to, by set of cores. A program on 32 chips is
// counted once here; chips meet these sums only when somebody asks for one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ledger/address_map.hpp"
#include "ledger/catalog.hpp"
#include "ledger/figures.hpp"
#include "ledger/records.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {

// The union of address ranges, each counted by how many programs have it: a range leaves when the
// last one goes. Cached programs reuse the same few ranges, so the list stays short however many
// programs live.
class RangeUnion {
 public:
  // True if the union may have changed.
  bool add(AddressRange range);
  bool remove(AddressRange range);  // one that was added

  // Sorted, without overlaps.
  const std::vector<AddressRange>& ranges() const;
  bool empty() const { return references_.empty(); }

 private:
  bool covered(AddressRange range) const;

  std::map<AddressRange, std::uint64_t> references_;
  mutable std::vector<AddressRange> merged_;
  mutable bool stale_ = false;
};

// Sums of one set that add up over sets.
struct SetFigures {
  struct Kernels {
    std::uint64_t count = 0, programs = 0, footprint = 0;
    Kernels& operator+=(const Kernels& other);
  };
  std::array<Kernels, kKernelTypes> by_type;
  std::array<std::uint64_t, kCoreTypes> by_core_type{};
  std::uint64_t code_bytes = 0;
  std::uint64_t registered = 0;
  std::uint64_t with_l1 = 0;
  std::uint64_t unknown_residency = 0;  // of those, where nobody knows what is resident
  std::uint64_t l1_allocated = 0;
  Kernels estimated;  // of all types; in none of the others

  SetFigures& operator+=(const SetFigures& other);
};

// Nobody knows whether its program L1 is what stands on its cores.
inline bool residency_is_unknown(const ProgramRecord& program) {
  return program.flags.requested_only || (program.flags.launches_untold && !program.loaded);
}

// Equal binaries: the same hash and size; 0 is no hash.
struct Code {
  std::uint64_t hash = 0;
  std::uint32_t bytes = 0;
  friend auto operator<=>(const Code&, const Code&) = default;
};
struct CodeUse {
  std::uint64_t kernels = 0;                // that have it
  std::map<StringId, std::uint64_t> names;  // how many of them have which
};
struct CodeHash {
  std::size_t operator()(const Code& code) const { return code.hash ^ code.bytes; }
};

class ProgramTotals {
 public:
  struct RangeGroup {
    RangeUnion placed;  // ranges whose address means something
    std::uint64_t count = 0;
    Wide bytes = 0;
  };
  struct KernelGroup {
    std::uint64_t count = 0;
    Wide packed = 0;
  };
  using KernelKey = std::tuple<KernelType, CoreType, CoresId>;

  // `up` counts a thing in, else exactly the same thing out.
  void count_program(const ProgramRecord& program, bool has_l1, bool up);
  void count_range(const RangeRecord& range, bool placed, bool up);
  void count_kernel(const KernelRecord& kernel, KernelType type, bool up);
  void count_estimated_program(bool up);
  void count_estimated_kernel(const KernelRecord& kernel, bool up);
  bool empty() const;

  SetFigures figures(const Catalog& catalog) const;
  const std::unordered_map<CoresId, RangeGroup>& ranges() const { return ranges_; }
  const std::map<KernelKey, KernelGroup>& kernels() const { return kernels_; }
  // Kernels by code; and the bytes of all code, equal code once, code without a hash every time.
  using Codes = std::unordered_map<Code, CodeUse, CodeHash>;
  const Codes& codes() const { return codes_; }
  std::uint64_t unique_bytes() const { return narrow(unique_); }
  // Kernels and ranges whose cores are not there.
  std::uint64_t dangling(const Catalog& catalog) const;
  // Grows whenever the union of the ranges may have changed.
  std::uint64_t union_version() const { return union_version_; }

 private:
  std::unordered_map<CoresId, RangeGroup> ranges_;
  std::map<KernelKey, KernelGroup> kernels_;
  Codes codes_;
  Wide unique_ = 0;
  std::array<std::uint64_t, kKernelTypes> loaded_{};
  std::map<CoresId, KernelGroup> estimated_;
  std::uint64_t registered_ = 0, with_l1_ = 0, unknown_residency_ = 0, estimated_programs_ = 0;
  std::uint64_t union_version_ = 1;
};

}  // namespace ttmem::ledger
