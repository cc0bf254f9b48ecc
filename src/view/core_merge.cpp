// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/core_merge.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace ttmem::view {
namespace {

using ledger::CoreStretch;
using ledger::CoreView;
using ledger::Stretch;

int rank(Stretch kind) {
  switch (kind) {
    case Stretch::kBuffer:
      return 7;
    case Stretch::kProgramL1:
      return 6;
    case Stretch::kL1Small:
      return 5;
    case Stretch::kRing:
      return 4;
    case Stretch::kFixed:
      return 3;
    case Stretch::kGap:
      return 2;
    case Stretch::kFree:
      return 1;
    case Stretch::kUnknown:
      return 0;
  }
  return 0;
}

const CoreStretch* winner(const CoreView& a, const CoreView& b, std::uint64_t address) {
  const CoreStretch* best = nullptr;
  for (const auto* map : {&a.map, &b.map}) {
    for (const CoreStretch& stretch : *map) {
      if (address < stretch.begin || address >= stretch.end) continue;
      if (best == nullptr || rank(stretch.kind) > rank(best->kind)) best = &stretch;
    }
  }
  return best;
}

bool continues(const CoreStretch& last, const CoreStretch& next, std::uint64_t begin) {
  return last.end == begin && last.kind == next.kind && last.name == next.name &&
         last.pid == next.pid;
}

std::vector<CoreStretch> merged_map(const CoreView& a, const CoreView& b) {
  std::set<std::uint64_t> borders;
  for (const auto* map : {&a.map, &b.map}) {
    for (const CoreStretch& stretch : *map) borders.insert({stretch.begin, stretch.end});
  }
  std::vector<CoreStretch> map;
  for (auto border = borders.begin(); border != borders.end() && std::next(border) != borders.end();
       ++border) {
    const CoreStretch* best = winner(a, b, *border);
    if (best == nullptr) continue;
    if (!map.empty() && continues(map.back(), *best, *border)) {
      map.back().end = *std::next(border);
      continue;
    }
    map.push_back(*best);
    map.back().begin = *border;
    map.back().end = *std::next(border);
  }
  return map;
}

void sum_map(CoreView& core) {
  std::array<std::uint64_t, 8> bytes{};
  for (const CoreStretch& stretch : core.map) {
    bytes[static_cast<std::size_t>(stretch.kind)] += stretch.end - stretch.begin;
  }
  const auto of = [&](Stretch kind) { return bytes[static_cast<std::size_t>(kind)]; };
  core.fixed = of(Stretch::kFixed);
  core.ring = of(Stretch::kRing);
  core.program_l1 = of(Stretch::kProgramL1);
  core.gaps = of(Stretch::kGap);
  core.free = of(Stretch::kFree) + of(Stretch::kUnknown);
  core.buffers = of(Stretch::kBuffer);
  core.l1_small = of(Stretch::kL1Small);
}

template <typename T>
std::optional<T> smaller(const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

void lay_over(CoreView& core, const CoreView& other) {
  core.map = merged_map(core, other);
  sum_map(core);
  core.headroom = smaller(core.headroom, other.headroom);
  core.headroom_reserved = smaller(core.headroom_reserved, other.headroom_reserved);
  core.reserved += other.reserved;
  core.kernel_footprint += other.kernel_footprint;
  core.ring_used = std::max(core.ring_used, other.ring_used);
}

}  // namespace

std::vector<CoreView> merged_cores(std::vector<std::vector<CoreView>> views) {
  if (views.empty()) return {};
  std::vector<CoreView> cores = std::move(views.front());
  std::map<ledger::Core, std::size_t> place;
  for (std::size_t i = 0; i < cores.size(); ++i) place[cores[i].core] = i;
  for (std::size_t process = 1; process < views.size(); ++process) {
    for (CoreView& core : views[process]) {
      const auto [found, is_new] = place.try_emplace(core.core, cores.size());
      if (is_new) {
        cores.push_back(std::move(core));
      } else {
        lay_over(cores[found->second], core);
      }
    }
  }
  return cores;
}

}  // namespace ttmem::view
