// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "top/views.hpp"
#include "view/bars.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using ledger::RingSliceView;
using ledger::RingView;
using view::Ink;

constexpr int kLinesOfOne = 2;  // the strip, and the names below it
constexpr int kMostShown = 4;
constexpr int kTitleColumns = 14;

// Rings that hold something first; among them those of workers.
std::vector<const RingView*> shown_rings(const Scene& scene) {
  std::vector<const RingView*> rings;
  for (const RingView& ring : scene.frame.device->rings) {
    if (ring.figures.capacity > 0) rings.push_back(&ring);
  }
  std::ranges::stable_sort(rings, {}, [](const RingView* ring) { return ring->slices.empty(); });
  if (rings.size() > kMostShown) rings.resize(kMostShown);
  return rings;
}

// Neighbours differ, so that one is told from the next.
view::BarPart part_of(const RingSliceView& slice, std::size_t index) {
  const std::uint64_t bytes = slice.end - slice.begin;
  if (!slice.live) return {Ink::kGap, bytes, U'░'};
  if (slice.workload == 0) return {Ink::kTrace, bytes, U'%'};
  return index % 2 == 0 ? view::BarPart{Ink::kRing, bytes, U'█'}
                        : view::BarPart{Ink::kProgramL1, bytes, U'▓'};
}

void draw_one_ring(Canvas& canvas, const view::Rect& place, const Scene& scene,
                   const RingView& ring) {
  canvas.grid.text(place.x, place.y,
                   fmt::format("{} q{}", name(ring.figures.core_type), ring.figures.queue),
                   looks::kText, kTitleColumns - 1);
  canvas.grid.text(place.x, place.y + 1, ring.process->label(), looks::kFaint, kTitleColumns - 1);
  std::string room = fmt::format("{} free   next {}", scene.bytes(ring.figures.free),
                                 scene.bytes(ring.figures.largest_free));
  if (ring.figures.would_evict > 0) {
    room += fmt::format("   largest evicts {}", ring.figures.would_evict);
  }
  const int x = place.x + kTitleColumns;
  const int columns = place.columns - kTitleColumns - view::drawn_columns(room) - 2;
  if (columns < 10) {
    canvas.grid.text(x, place.y, room, looks::kSoft, place.right() - x);
    return;
  }
  canvas.grid.text_before(place.right(), place.y, room, looks::kSoft);
  std::vector<view::BarPart> parts;
  std::uint64_t at = ring.base;
  int free_from = x;  // where the next name may begin
  for (std::size_t i = 0; i < ring.slices.size(); ++i) {
    const RingSliceView& slice = ring.slices[i];
    const std::uint64_t begin = std::max(slice.begin, at);
    if (slice.end <= begin) continue;
    parts.push_back({Ink::kTrack, begin - at, U'·'});
    parts.push_back(part_of(slice, i));
    parts.back().amount = slice.end - begin;
    at = slice.end;
    const auto column = [&](std::uint64_t address) {
      return x + static_cast<int>((address - ring.base) * static_cast<std::uint64_t>(columns) /
                                  ring.figures.capacity);
    };
    const int from = std::max(free_from, column(begin));
    const int room_for = column(slice.end) - from;
    if (room_for < 3) continue;
    canvas.grid.text(from, place.y + 1, slice.name, slice.live ? looks::kSoft : looks::kFaint,
                     room_for - 1);
    free_from = from + room_for;
  }
  view::draw_strip(canvas.grid, x, place.y, columns, parts, ring.figures.capacity,
                   scene.state.colours);
}

}  // namespace

int ring_lines(const Scene& scene) {
  const int rings = static_cast<int>(shown_rings(scene).size());
  return rings == 0 ? 0 : rings * kLinesOfOne + 2;
}

void draw_rings(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const view::Rect inside = draw_panel(canvas, place, "Kernel-config rings",
                                       "next: the largest program that evicts none");
  int y = inside.y;
  for (const RingView* ring : shown_rings(scene)) {
    if (y + kLinesOfOne > inside.bottom()) return;
    draw_one_ring(canvas, {inside.x + 1, y, inside.columns - 2, kLinesOfOne}, scene, *ring);
    y += kLinesOfOne;
  }
}

}  // namespace ttmem::top
