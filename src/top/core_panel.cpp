// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "top/device_card.hpp"
#include "top/views.hpp"
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

// One line of the list: a stretch, or neighbours that found no line of their own.
struct Piece {
  std::uint64_t begin = 0, end = 0;
  std::array<std::uint64_t, 8> bytes_by_kind{};
  const CoreStretch* largest = nullptr;  // of those with a name
  int count = 1;

  explicit Piece(const CoreStretch& stretch) : begin(stretch.begin), end(stretch.end) {
    bytes_by_kind[static_cast<std::size_t>(stretch.kind)] = bytes();
    if (!stretch.name.empty() || stretch.owner) largest = &stretch;
  }
  std::uint64_t bytes() const { return end - begin; }
  Stretch kind() const {
    const auto most = std::max_element(bytes_by_kind.begin(), bytes_by_kind.end());
    return static_cast<Stretch>(most - bytes_by_kind.begin());
  }
  void join(const Piece& above) {
    end = above.end;
    count += above.count;
    const auto size = [](const CoreStretch* one) { return one ? one->end - one->begin : 0; };
    if (size(above.largest) > size(largest)) largest = above.largest;
    for (std::size_t i = 0; i < bytes_by_kind.size(); ++i) {
      bytes_by_kind[i] += above.bytes_by_kind[i];
    }
  }
};

// Neighbours of one part of the L1 may share a line; fixed part, ring, program L1 and L1_SMALL stay
// apart from each other and from the buffers.
bool may_join(const Piece& a, const Piece& b) {
  const auto part = [](const Piece& piece) {
    const Stretch kind = piece.kind();
    return kind == Stretch::kFree ? Stretch::kBuffer : kind;
  };
  return part(a) == part(b) || part(a) == Stretch::kGap || part(b) == Stretch::kGap;
}

// The pair of neighbours that is smallest together; the lower one's index.
std::size_t smallest_pair(const std::vector<Piece>& pieces, bool any) {
  std::size_t best = pieces.size();
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    if (!any && !may_join(pieces[i], pieces[i + 1])) continue;
    const auto bytes = [&](std::size_t at) { return pieces[at].bytes() + pieces[at + 1].bytes(); };
    if (best == pieces.size() || bytes(i) < bytes(best)) best = i;
  }
  return best;
}

// From top to bottom in at most `lines`; small neighbours share one, so that the list still covers
// every byte.
std::vector<Piece> pieces_of(const std::vector<CoreStretch>& map, int lines) {
  std::vector<Piece> result(map.begin(), map.end());
  while (static_cast<int>(result.size()) > std::max(1, lines)) {
    std::size_t lower = smallest_pair(result, false);
    if (lower == result.size()) lower = smallest_pair(result, true);
    result[lower].join(result[lower + 1]);
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(lower) + 1);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

// What else is in the line, beside the kind and the largest that name it: "+19, 21.9 KiB free".
std::string others_text(const Scene& scene, const Piece& piece) {
  const auto bytes = [&](Stretch kind) {
    return scene.bytes(piece.bytes_by_kind[static_cast<std::size_t>(kind)]);
  };
  const auto has = [&](Stretch kind) {
    return piece.kind() != kind && piece.bytes_by_kind[static_cast<std::size_t>(kind)] > 0;
  };
  std::string text = piece.largest != nullptr ? fmt::format("+{}", piece.count - 1)
                                              : fmt::format("{} pieces", piece.count);
  if (has(Stretch::kFree)) text += ", " + bytes(Stretch::kFree) + " free";
  if (has(Stretch::kBuffer)) text += ", " + bytes(Stretch::kBuffer) + " in buffers";
  return text;
}

// "buffer 0x17" says what it is; other names stand behind the word for what they name.
bool names_itself(const Piece& piece, std::string_view word) {
  return piece.largest != nullptr && piece.largest->name.starts_with(word);
}

// Where there is little room, addresses and gaps give way to names.
constexpr int kRoomForAddresses = 44;

void draw_piece(Canvas& canvas, const view::Rect& line, const Scene& scene, const Piece& piece) {
  const StretchWords said = words(piece.kind());
  const Ink ink = said.ink == Ink::kTrack || said.ink == Ink::kGap ? Ink::kFaint : said.ink;
  canvas.grid.put(line.x, line.y, scene.state.colours ? U'■' : said.texture, {ink});
  int x = line.x + 2;
  const bool roomy = line.columns >= kRoomForAddresses;
  if (roomy) {
    canvas.grid.text(x, line.y, fmt::format("{:#08x}", piece.begin), looks::kFaint);
    x += 10;
  }
  canvas.grid.text_before(x + 10, line.y, scene.bytes(piece.bytes()), looks::kText);
  x += roomy ? 12 : 11;
  const auto add = [&](std::string_view text, view::Look look) {
    if (x < line.right()) x += canvas.grid.text(x, line.y, text, look, line.right() - x) + 1;
  };
  const bool joined = piece.kind() == Stretch::kFree && piece.largest != nullptr;
  if (!names_itself(piece, said.name)) add(joined ? "mostly free:" : said.name, {ink});
  if (piece.largest != nullptr) {
    add(piece.largest->name, names_itself(piece, said.name) ? view::Look{ink} : looks::kText);
  }
  if (piece.count > 1) add(others_text(scene, piece), looks::kSoft);
  if (piece.largest != nullptr && piece.largest->owner) {
    add(fmt::format("{} {}", piece.largest->owner->name, piece.largest->owner->label()),
        looks::kFaint);
  }
}

std::string headline(const Scene& scene, const ledger::CoreView& core) {
  std::string text = scene.bytes(core.program_l1 + core.buffers + core.l1_small) + " used";
  if (core.headroom) text += "   headroom " + scene.signed_bytes(core.headroom);
  return text + "   L1 " + scene.bytes(core.l1_bytes);
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
  const int columns = inside.right() - tower.right() - (inside.columns >= 50 ? 2 : 1);
  int y = inside.y;
  for (const Piece& piece : pieces_of(core.map, inside.rows)) {
    draw_piece(canvas, {tower.right() + 1, y++, columns, 1}, scene, piece);
  }
}

}  // namespace ttmem::top
