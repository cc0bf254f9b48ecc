// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <utility>

#include "ledger/address_map.hpp"
#include "ledger/assemble.hpp"
#include "ledger/catalog.hpp"
#include "ledger/effort_shares.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

constexpr std::size_t kMostBlocks = 4096, kMostFree = 64;

// The widest region that an open allocator of the process has in this space.
void widen(const ProcessLedger& ledger, DeviceIndex device, BankMap& map) {
  for (const AllocatorIndex index : ledger.catalog().allocators_of(device)) {
    const AllocatorRecord* allocator = ledger.catalog().allocator(index);
    const SpaceRecord& space = allocator->spaces[static_cast<std::size_t>(map.space)];
    if (!allocator->open || space.banks == 0 || space.bank_bytes <= map.end - map.begin) continue;
    map.banks = space.banks;
    map.begin = space.base;
    map.end = add(space.base, space.bank_bytes);
  }
}

void add_buffers(const ProcessInput& process, const Snapshot& snapshot, DeviceIndex device,
                 BankMap& map) {
  Naming naming = naming_of(process, snapshot);
  naming.device_ids.reset();  // the process's own: it may have opened one chip twice
  const auto take = [&](const HoldingView& held) {
    if (held.kind != HoldingKind::kBuffer || held.space != map.space || held.estimated) return;
    if (!held.block || *held.block == 0) return;
    if (std::ranges::find(held.devices, device) == held.devices.end()) return;
    map.blocks.push_back({held.address, add(held.address, *held.block), held.id, held.process,
                          held.operation, held.line, held.since});
  };
  process.ledger->for_each_holding(take, naming);
}

void find_free(BankMap& map) {
  std::uint64_t at = map.begin;
  const auto add_free = [&](std::uint64_t end) {
    if (at >= end) return;
    map.free.push_back({at, end});
    map.free_bytes += end - at;
  };
  for (const BankBlock& block : map.blocks) {
    add_free(std::min(block.begin, map.end));
    at = std::max(at, block.end);
  }
  add_free(map.end);
  map.free_blocks = map.free.size();
  const std::size_t kept = std::min(kMostFree, map.free.size());
  const auto last = map.free.begin() + static_cast<std::ptrdiff_t>(kept);
  std::ranges::partial_sort(map.free, last, std::ranges::greater{},
                            [](const AddressRange& range) { return range.end - range.begin; });
  map.free.erase(last, map.free.end());
}

void finish(BankMap& map) {
  std::ranges::sort(map.blocks, {},
                    [](const BankBlock& block) { return std::pair(block.begin, block.end); });
  find_free(map);
  map.truncated = map.blocks.size() > kMostBlocks;
  if (map.truncated) map.blocks.resize(kMostBlocks);
}

}  // namespace

std::vector<BankMap> bank_maps(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                               const DeviceView& device) {
  std::vector<BankMap> maps;
  EffortShares shares;
  for (const Space space : {Space::kDram, Space::kTrace}) {
    BankMap map;
    map.space = space;
    for_each_open(processes, snapshot, device, [&](const ProcessInput& process, DeviceIndex index) {
      widen(*process.ledger, index, map);
      shares.ask(process, [&] { add_buffers(process, snapshot, index, map); });
    });
    if (map.banks == 0) continue;
    finish(map);
    maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace ttmem::ledger
