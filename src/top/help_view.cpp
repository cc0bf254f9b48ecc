// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <array>
#include <string_view>

#include "top/views.hpp"

namespace ttmem::top {
namespace {

struct Line {
  std::string_view keys, meaning;
};

constexpr std::array<Line, 13> kKeys = {{
    {"Tab  1-6  Esc", "next view, a view, back to the overview"},
    {"↑ ↓  PgUp PgDn", "move; Home and End go to the ends"},
    {"Enter", "open the device, process or failure"},
    {"/", "filter the list; Enter keeps it, Esc clears it"},
    {"s  r", "choose the order, reverse it"},
    {"← →", "cores: move the cursor; lists: the next order"},
    {"c", "cores: colour by the next figure"},
    {"n  p", "next and previous device or process"},
    {"f", "device: cores or kernels; process: holdings or failures"},
    {"b", "bytes to the last digit"},
    {"Space", "pause and go on"},
    {"+  -", "read more or less often, 0.1 to 60 s"},
    {"q", "quit"},
}};

constexpr std::array<Line, 9> kWords = {{
    {"taken", "what an allocator can no longer give out"},
    {"L1 used", "buffers + L1_SMALL + program L1 resident"},
    {"program L1", "circular buffers of the programs that ran last"},
    {"ring", "fixed part of L1 that holds kernel code and arguments"},
    {"fixed", "firmware and tables; nobody can use it"},
    {"headroom", "room between program L1 and L1 buffers; below 0 clashes"},
    {"kernels", "binary size x cores, an upper bound, in no total"},
    {"devices", "all sums are over the processes that are alive"},
    {"red name", "something failed; yellow: figures may be incomplete"},
}};

template <std::size_t N>
void draw_lines(Canvas& canvas, const view::Rect& place, const std::array<Line, N>& lines,
                int indent) {
  int y = place.y;
  for (const Line& line : lines) {
    if (y >= place.bottom()) break;
    canvas.grid.text(place.x + 1, y, line.keys, looks::kKey, indent - 1);
    canvas.grid.text(place.x + 1 + indent, y++, line.meaning, looks::kText,
                     place.columns - indent - 2);
  }
}

}  // namespace

void draw_help(Canvas& canvas, const view::Rect& place, const Scene&) {
  const bool beside = place.columns >= 120;
  const int rows = static_cast<int>(kKeys.size()) + 2;
  const view::Rect keys =
      beside ? view::Rect{place.x, place.y, place.columns / 2, place.rows}
             : view::Rect{place.x, place.y, place.columns, std::min(rows, place.rows)};
  draw_lines(canvas, draw_panel(canvas, keys, "Keys", "the mouse works as well"), kKeys, 17);
  const view::Rect words =
      beside ? view::Rect{keys.right(), place.y, place.columns - keys.columns, place.rows}
             : view::Rect{place.x, keys.bottom(), place.columns, place.bottom() - keys.bottom()};
  if (words.rows >= 3) draw_lines(canvas, draw_panel(canvas, words, "Words"), kWords, 12);
}

}  // namespace ttmem::top
