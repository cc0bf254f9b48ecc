// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The memory of one device in the original's layouts: the bars of its viewer, the split of the
// kernels, and the block of L1 (Allocator), L1 (CBs), L1 (Kernels), L1 Total. Here is what each of
// them means, once for `tt_smi_umd` and `ttmem status --format legacy`.
#pragma once

#include <cstdint>
#include <string>

#include "ledger/snapshot.hpp"

namespace ttmem::legacy {

// What a device uses, as `ttmem status` has it, with what the board has where no process told more.
struct Usage {
  std::uint64_t dram = 0, l1 = 0;
  std::uint64_t cbs = 0;  // the part of `l1` that circular buffers are
  std::uint64_t l1_small = 0, trace = 0;
  ledger::Figure dram_total, l1_total;
  bool nominal = false;  // the totals are those of the data sheet
  // In percent; 0 without a total.
  double dram_percent() const;
  double l1_percent() const;
};
Usage usage_of(const ledger::DeviceView& device);
// "0.3%"; "N/A" without a whole.
std::string share(std::uint64_t part, const ledger::Figure& whole);

// What the original added up: buffers as requested, circular buffers of all live programs, kernels
// times their cores. An upper bound that can exceed the L1.
struct L1Sum {
  ledger::Figure buffers, cbs, kernels;  // empty = nobody told
  std::uint64_t estimated = 0;
  bool all_programs = false;  // more circular buffers than lie in L1 now
  ledger::Figure capacity;
  bool is_known() const { return buffers && cbs && kernels; }
  std::uint64_t total() const {
    return buffers.value_or(0) + cbs.value_or(0) + kernels.value_or(0) + estimated;
  }
};
L1Sum l1_sum_of(const ledger::DeviceFigures& figures);

// "      - Fabric:     112 KB  (2 kernels)", one line per type.
std::string kernel_split(const ledger::KernelFigures& kernels);
// "  L1 (Allocator):  1.0MB" to "  L1 Total:        11.9MB"; labelled where it is not what lies in
// L1, or is more than fits.
std::string l1_block(const L1Sum& sum);

// "[█████░░░░░] 50.0%".
std::string share_bar(double percent);

// DRAM and L1 with bars, their parts, the split and the block.
std::string breakdown(const ledger::DeviceView& device);
// The split and the block alone, for the other screens.
std::string l1_summary(const ledger::DeviceView& device);

}  // namespace ttmem::legacy
