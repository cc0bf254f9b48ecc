// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What helps where a region of fixed size is too small: L1_SMALL, the trace region, the
// kernel-config ring. Each is a number that the device is opened with.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

constexpr std::uint64_t kUnit = 32;
constexpr std::uint64_t kMostL1Small = 1u << 20;

// The next power of two that leaves half of the region free: halo tables and semaphores of cached
// programs come with every new shape.
std::uint64_t comfortable(std::uint64_t least) {
  std::uint64_t size = 16384;
  while (size < 2 * least && size < kMostL1Small) size *= 2;
  return std::max(size, round_up(least, kUnit));
}

// A larger region grows downwards: what it gains joins the hole at its bottom.
void cure_l1_small(const Case& it, Findings& findings) {
  const std::uint64_t need = needed_block(it);
  const bool empty = it.message.held == 0u && it.message.bank;
  if (need == 0 || (!it.provable && !empty)) return;
  const std::uint64_t size = empty ? *it.message.bank : size_of(it.space->bank);
  const std::uint64_t bottom = empty || it.space->blocks.empty()
                                   ? size
                                   : it.space->blocks.front().range.begin - it.space->bank.begin;
  if (bottom >= need) return;
  const std::uint64_t least = size + need - bottom;
  Cure cure;
  cure.kind = CureKind::kL1SmallSize;
  cure.value = comfortable(least);
  cure.to_spare = *cure.value - least;
  cure.call = fmt::format("ttnn.open_device(..., l1_small_size={})", *cure.value);
  cure.text = fmt::format(
      "Open the device with l1_small_size={} instead of {}: this request needs at least {}, and "
      "more "
      "may follow. Each core has that much less L1 for other buffers.",
      *cure.value, size, least);
  findings.cures.push_back(std::move(cure));
  if (it.failure.operation.find("conv") == std::string::npos) return;
  Cure tables;
  tables.kind = CureKind::kConvConfig;
  tables.call = "conv_config=ttnn.Conv2dConfig(config_tensors_in_dram=True)";
  tables.text = "Or keep the convolution's tables in DRAM: then it asks for no L1_SMALL.";
  findings.cures.push_back(std::move(tables));
}

// What the region must have at least, and what it has; over all banks.
struct RegionBytes {
  std::uint64_t least = 0, now = 0;
};

// The runtime says it of all traces together, or the allocator of one bank of the region.
std::optional<RegionBytes> trace_bytes(const Case& it) {
  if (it.message.needed && it.message.limit) {
    const std::uint64_t banks = it.dram ? it.dram->banks : 1;
    return RegionBytes{round_up(*it.message.needed, kUnit * std::max<std::uint64_t>(banks, 1)),
                       *it.message.limit};
  }
  const std::uint64_t need = needed_block(it), banks = it.message.banks.value_or(0);
  if (need == 0 || banks == 0 || !it.message.bank || !it.message.largest) return std::nullopt;
  // What it gains joins the last hole, which may be another one than the largest.
  return RegionBytes{(*it.message.bank + need) * banks, *it.message.bank * banks};
}

void cure_trace_region(const Case& it, Findings& findings) {
  const auto bytes = trace_bytes(it);
  if (!bytes) return;
  Cure cure;
  cure.kind = CureKind::kTraceRegionSize;
  cure.value = bytes->least;
  cure.call = fmt::format("ttnn.open_device(..., trace_region_size={})", *cure.value);
  cure.text = fmt::format(
      "Open the device with trace_region_size={} or more instead of {}, or release "
      "traces that are not replayed any more (ttnn.release_trace).",
      *cure.value, bytes->now);
  findings.cures.push_back(std::move(cure));
}

// The ring has what the workers' L1 leaves.
void cure_ring(const Case& it, Findings& findings) {
  if (!it.message.needed || !it.message.limit || *it.message.needed <= *it.message.limit) return;
  findings.remarks.emplace_back(
      "Fewer profiler zones, no watcher and smaller kernels make a program smaller. Freeing "
      "buffers "
      "changes nothing.");
  if (!it.space || !it.space->l1_bytes || !it.space->unreserved_base) return;
  const std::uint64_t over = round_up(*it.message.needed - *it.message.limit, kUnit);
  const std::uint64_t now =
      *it.space->l1_bytes - std::min(*it.space->l1_bytes, *it.space->unreserved_base);
  if (over >= now) return;
  Cure cure;
  cure.kind = CureKind::kWorkerL1Size;
  cure.value = now - over;
  cure.call = fmt::format("ttnn.open_device(..., worker_l1_size={})", *cure.value);
  cure.text = fmt::format(
      "Open the device with worker_l1_size={} instead of {}: the ring gains {}, and each "
      "core has that much less L1 for buffers.",
      *cure.value, now, bytes_text(over));
  findings.cures.push_back(std::move(cure));
}

}  // namespace

void cure_regions(const Case& it, Findings& findings) {
  if (findings.verdict == Verdict::kL1Small) cure_l1_small(it, findings);
  if (findings.verdict == Verdict::kTraceRegion) cure_trace_region(it, findings);
  if (findings.verdict == Verdict::kRing) cure_ring(it, findings);
}

}  // namespace ttmem::explain
