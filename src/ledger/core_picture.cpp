// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/core_picture.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/assert.hpp"

namespace ttmem::ledger {
namespace {

// Stretches that do not overlap. What is painted stays. Runs without a hole are kept as one, so
// that no layer has to look at all that lie under it: strangers choose the layers.
class Line {
 public:
  explicit Line(std::uint64_t size) : size_(size) {}

  void paint(const L1Layer& layer) {
    std::uint64_t cursor = layer.range.begin;
    const std::uint64_t end = std::min(layer.range.end, size_);
    if (cursor >= end) return;
    auto run = covered_.upper_bound(cursor);
    if (run != covered_.begin() && std::prev(run)->second >= cursor) --run;
    AddressRange joined{cursor, end};
    while (run != covered_.end() && run->first <= end) {
      if (cursor < run->first) add(layer, cursor, run->first);
      cursor = std::max(cursor, run->second);
      joined = {std::min(joined.begin, run->first), std::max(joined.end, run->second)};
      run = covered_.erase(run);
    }
    if (cursor < end) add(layer, cursor, end);
    covered_.emplace_hint(run, joined.begin, joined.end);
  }

  void paint(Stretch kind, std::uint64_t begin, std::uint64_t end, const char* name = "") {
    paint(L1Layer{kind, {begin, end}, name, nullptr});
  }

  // By address.
  std::vector<CoreStretch> take() {
    std::ranges::sort(stretches_, {}, &CoreStretch::begin);
    return std::move(stretches_);
  }

 private:
  void add(const L1Layer& layer, std::uint64_t begin, std::uint64_t end) {
    stretches_.push_back({layer.kind, begin, end, layer.name, layer.owner});
  }

  std::uint64_t size_;
  std::map<std::uint64_t, std::uint64_t> covered_;  // the end of each, by its begin
  std::vector<CoreStretch> stretches_;
};

std::uint64_t program_end(const CoreLayers& core) {
  std::uint64_t end = 0;
  for (const L1Layer& layer : core.layers) {
    if (layer.kind == Stretch::kProgramL1) end = std::max(end, layer.range.end);
  }
  return end;
}

void paint_layers(Line& line, const CoreLayers& core, Stretch kind) {
  for (const L1Layer& layer : core.layers) {
    if (layer.kind == kind) line.paint(layer);
  }
}

// A dispatch core belongs to its queues as a whole; nothing else is placed there.
void paint_rest(Line& line, const CoreLayers& core) {
  const CoreGeometry& geometry = core.frame.geometry;
  line.paint(Stretch::kGap, 0, geometry.unreserved_base);
  if (core.frame.core.role == Role::kDispatch) {
    line.paint(Stretch::kFixed, 0, geometry.l1_bytes, "command queues");
    return;
  }
  line.paint(Stretch::kGap, 0, program_end(core));
  line.paint(Stretch::kFree, 0, geometry.l1_bytes);
}

std::uint64_t* part_of(CoreView& view, Stretch kind) {
  switch (kind) {
    case Stretch::kFixed:
      return &view.fixed;
    case Stretch::kRing:
      return &view.ring;
    case Stretch::kProgramL1:
      return &view.program_l1;
    case Stretch::kGap:
      return &view.gaps;
    case Stretch::kBuffer:
      return &view.buffers;
    case Stretch::kL1Small:
      return &view.l1_small;
    case Stretch::kFree:
    case Stretch::kUnknown:
      break;
  }
  return &view.free;
}

// Ring slices that several managers keep may overlap; the ring is there once.
std::uint32_t ring_used(const CoreLayers& core) {
  std::vector<AddressRange> slices;
  for (const L1Layer& layer : core.layers) {
    if (layer.kind == Stretch::kRing) slices.push_back(layer.range);
  }
  const std::uint64_t used = total_bytes(merged(std::move(slices)));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(used, core.frame.geometry.ring_bytes));
}

}  // namespace

CoreView paint(const CoreLayers& core, bool with_map) {
  const CoreGeometry& geometry = core.frame.geometry;
  CoreView view = core.view;
  view.core = core.frame.core.core;
  view.role = core.frame.core.role;
  view.noc_x = core.frame.core.noc_x;
  view.noc_y = core.frame.core.noc_y;
  view.ring_used = ring_used(core);
  const bool known = geometry.l1_bytes != 0;
  if (known) view.l1_bytes = geometry.l1_bytes;

  Line line(known ? geometry.l1_bytes : kMost);
  paint_layers(line, core, Stretch::kProgramL1);
  paint_layers(line, core, Stretch::kBuffer);
  paint_layers(line, core, Stretch::kL1Small);
  if (core.frame.l1_small) {
    line.paint(Stretch::kL1Small, core.frame.l1_small->begin, core.frame.l1_small->end);
  }
  paint_layers(line, core, Stretch::kRing);
  line.paint(Stretch::kRing, geometry.ring_base,
             std::uint64_t{geometry.ring_base} + geometry.ring_bytes);
  line.paint(Stretch::kFixed, 0, geometry.fixed_end);
  if (known) paint_rest(line, core);

  std::vector<CoreStretch> stretches = line.take();
  for (const CoreStretch& stretch : stretches) {
    std::uint64_t& part = *part_of(view, stretch.kind);
    part = add(part, stretch.end - stretch.begin);
  }
  // Painting over gives every byte one owner, whatever the layers claim.
  TTMEM_DCHECK(!known || view.fixed + view.ring + view.program_l1 + view.gaps + view.buffers +
                                 view.l1_small + view.free ==
                             geometry.l1_bytes);
  if (with_map) view.map = std::move(stretches);
  return view;
}

}  // namespace ttmem::ledger
