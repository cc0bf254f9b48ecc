// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/core_panel.hpp"

#include <algorithm>
#include <array>

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

// One line of the list: a stretch, or several neighbours that found no line of their own.
struct Piece {
  std::uint64_t begin = 0, end = 0;
  std::array<std::uint64_t, 8> bytes_by_kind{};
  const CoreStretch* only = nullptr;  // null: several
  int count = 1;

  std::uint64_t bytes() const { return end - begin; }
  Stretch kind() const {
    const auto largest = std::max_element(bytes_by_kind.begin(), bytes_by_kind.end());
    return static_cast<Stretch>(largest - bytes_by_kind.begin());
  }
};

// From top to bottom in at most `lines`; the smallest join their smaller neighbours, so that the
// list still covers every byte.
std::vector<Piece> pieces(const std::vector<CoreStretch>& map, int lines) {
  std::vector<Piece> result;
  for (const CoreStretch& stretch : map) {
    Piece piece{stretch.begin, stretch.end, {}, &stretch};
    piece.bytes_by_kind[static_cast<std::size_t>(stretch.kind)] = piece.bytes();
    result.push_back(piece);
  }
  while (static_cast<int>(result.size()) > std::max(1, lines)) {
    auto smallest = std::min_element(result.begin(), result.end(),
                                     [](auto& a, auto& b) { return a.bytes() < b.bytes(); });
    const bool last = smallest + 1 == result.end();
    const bool down =
        smallest != result.begin() && (last || (smallest - 1)->bytes() < (smallest + 1)->bytes());
    if (down) --smallest;
    const Piece above = *(smallest + 1);
    smallest->end = above.end;
    smallest->only = nullptr;
    smallest->count += above.count;
    for (std::size_t i = 0; i < above.bytes_by_kind.size(); ++i) {
      smallest->bytes_by_kind[i] += above.bytes_by_kind[i];
    }
    result.erase(smallest + 1);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

void draw_piece(Canvas& canvas, const view::Rect& line, const Scene& scene, const Piece& piece) {
  const StretchWords said = words(piece.kind());
  const Ink ink = said.ink == Ink::kTrack || said.ink == Ink::kGap ? Ink::kFaint : said.ink;
  canvas.grid.put(line.x, line.y, scene.state.colours ? U'■' : said.texture, {ink});
  int x = line.x + 2;
  if (line.columns >= 44) {
    canvas.grid.text(x, line.y, fmt::format("{:#08x}", piece.begin), looks::kFaint);
    x += 10;
  }
  canvas.grid.text_before(x + 10, line.y, scene.bytes(piece.bytes()), looks::kText);
  x += 12;
  x += canvas.grid.text(x, line.y, said.name, {ink}, line.right() - x) + 1;
  if (piece.only == nullptr) {
    canvas.grid.text(x, line.y, fmt::format("and others, {} pieces", piece.count), looks::kSoft,
                     line.right() - x);
    return;
  }
  if (!piece.only->name.empty()) {
    x += canvas.grid.text(x, line.y, piece.only->name, looks::kText, line.right() - x) + 1;
  }
  if (piece.only->pid != 0) {
    canvas.grid.text(x, line.y, fmt::format("{} {}", piece.only->owner, piece.only->pid),
                     looks::kFaint, line.right() - x);
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
  int y = inside.y;
  for (const Piece& piece : pieces(core.map, inside.rows)) {
    draw_piece(canvas, {tower.right() + 2, y++, inside.right() - tower.right() - 3, 1}, scene,
               piece);
  }
}

}  // namespace ttmem::top
