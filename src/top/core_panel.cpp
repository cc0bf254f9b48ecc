// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/core_panel.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "top/device_card.hpp"
#include "view/bars.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using ledger::CoreStretch;
using ledger::Stretch;
using view::Ink;

struct StretchWords {
  std::string_view name;
  Ink ink;
  char32_t texture;
};

StretchWords words(Stretch kind) {
  switch (kind) {
    case Stretch::kFixed:
      return {"fixed", Ink::kFixed, U'░'};
    case Stretch::kRing:
      return {"ring", Ink::kRing, U'▒'};
    case Stretch::kProgramL1:
      return {"program L1", Ink::kProgramL1, U'▓'};
    case Stretch::kGap:
      return {"gap", Ink::kGap, U'·'};
    case Stretch::kFree:
      return {"free", Ink::kTrack, U' '};
    case Stretch::kBuffer:
      return {"buffer", Ink::kBuffers, U'█'};
    case Stretch::kL1Small:
      return {"L1_SMALL", Ink::kL1Small, U'%'};
    case Stretch::kUnknown:
      return {"not known", Ink::kGap, U'?'};
  }
  return {"", Ink::kGap, U' '};
}

// From top to bottom, at most `lines`: the smallest are left out first.
std::vector<const CoreStretch*> shown_stretches(const std::vector<CoreStretch>& map, int lines) {
  std::vector<const CoreStretch*> all;
  for (const CoreStretch& stretch : map) all.push_back(&stretch);
  const auto size = [](const CoreStretch* s) { return s->end - s->begin; };
  if (static_cast<int>(all.size()) > lines) {
    std::stable_sort(all.begin(), all.end(), [&](auto* a, auto* b) { return size(a) > size(b); });
    all.resize(static_cast<std::size_t>(std::max(0, lines - 1)));
  }
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->begin > b->begin; });
  return all;
}

void draw_stretch(Canvas& canvas, const view::Rect& line, const Scene& scene,
                  const CoreStretch& stretch) {
  const StretchWords said = words(stretch.kind);
  const Ink ink = said.ink == Ink::kTrack || said.ink == Ink::kGap ? Ink::kFaint : said.ink;
  canvas.grid.put(line.x, line.y, scene.state.colours ? U'■' : said.texture, {ink});
  int x = line.x + 2;
  if (line.columns >= 44) {
    canvas.grid.text(x, line.y, fmt::format("{:#08x}", stretch.begin), looks::kFaint);
    x += 10;
  }
  canvas.grid.text_before(x + 10, line.y, scene.bytes(stretch.end - stretch.begin), looks::kText);
  x += 12;
  x += canvas.grid.text(x, line.y, said.name, {ink}, line.right() - x) + 1;
  if (!stretch.name.empty()) {
    x += canvas.grid.text(x, line.y, stretch.name, looks::kText, line.right() - x) + 1;
  }
  if (stretch.pid != 0) {
    canvas.grid.text(x, line.y, fmt::format("{} {}", stretch.owner, stretch.pid), looks::kFaint,
                     line.right() - x);
  }
}

std::string headline(const Scene& scene, const ledger::CoreView& core) {
  std::string text =
      fmt::format("{} of {} used", scene.bytes(core.program_l1 + core.buffers + core.l1_small),
                  scene.bytes(core.l1_bytes));
  if (core.headroom) {
    text += ", headroom " + (scene.state.exact ? view::signed_exact_text(*core.headroom)
                                               : view::signed_bytes_text(*core.headroom));
  }
  return text;
}

}  // namespace

void draw_core(Canvas& canvas, const view::Rect& place, const Scene& scene,
               const ledger::CoreView& core) {
  const std::string title =
      fmt::format("Core {}  {}", core_text(core.core), ledger::name(core.role));
  const view::Rect inside = draw_panel(canvas, place, title, headline(scene, core));
  if (core.role == ledger::Role::kHarvested || !core.l1_bytes) {
    draw_centred(canvas, inside, {"This core has no L1 that anybody uses."});
    return;
  }
  std::vector<view::BarPart> parts;
  for (const CoreStretch& stretch : core.map) {
    const StretchWords said = words(stretch.kind);
    parts.push_back({said.ink, stretch.end - stretch.begin, said.texture});
  }
  const view::Rect tower{inside.x + 1, inside.y, 3, inside.rows};
  view::draw_tower(canvas.grid, tower, parts, *core.l1_bytes, scene.state.colours);
  const auto shown = shown_stretches(core.map, inside.rows);
  int y = inside.y;
  for (const CoreStretch* stretch : shown) {
    draw_stretch(canvas, {tower.right() + 2, y++, inside.right() - tower.right() - 3, 1}, scene,
                 *stretch);
  }
  if (shown.size() < core.map.size()) {
    canvas.grid.text(tower.right() + 2, y,
                     fmt::format("… {} smaller ones", core.map.size() - shown.size()),
                     looks::kFaint);
  }
}

}  // namespace ttmem::top
