// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "top/listing.hpp"
#include "top/views.hpp"

namespace ttmem::top {
namespace {

struct Line {
  std::string_view keys, meaning;
};

constexpr std::array<Line, 17> kKeys = {{
    {"Tab  1-7  Esc", "next view, a view, back to the overview"},
    {"↑ ↓  PgUp PgDn", "move; Home and End go to the ends"},
    {"Enter", "open the device, process, job or failure"},
    {"/", "filter; Enter keeps it, Esc clears it"},
    {"s  r", "choose the order, reverse it"},
    {"← →", "cores: move; lists: the next order"},
    {"c", "cores: colour by the next figure"},
    {"n  p", "next, previous device, process or host"},
    {"f", "kernels, timeline, failures, and back"},
    {"t", "process: a tree by line; Enter folds"},
    {"b", "bytes to the last digit"},
    {"Space", "pause and go on"},
    {"+  -", "read more or less often, 0.1 to 60 s"},
    {"← →  , .  < >", "recording: back and on, a lot, a bit"},
    {"Space  +  -", "recording: play and stop; speed"},
    {"[  ]  g  G", "recording: failure or peak; start, end"},
    {"q", "quit; Ctrl-Z stops, Ctrl-L draws again"},
}};

constexpr std::array<Line, 10> kWords = {{
    {"taken", "what can no longer be given out"},
    {"L1 used", "buffers + L1_SMALL + program L1"},
    {"program L1", "circular buffers of the last programs"},
    {"ring", "L1 kept for kernel code and arguments"},
    {"fixed", "firmware and tables; nobody can use it"},
    {"headroom", "program L1 to buffers; below 0: a clash"},
    {"kernels", "size x cores: upper bound, in no total"},
    {"devices", "sums are over the living processes"},
    {"E e D M ×", "eth, idle eth, dispatch, DRAM, harvested"},
    {"red name", "it failed; yellow: may be incomplete"},
}};

constexpr int kKeyColumns = 16, kWordColumns = 12;

// Beside each other, the two lists have 60 columns each: with a frame, a blank on either side.
constexpr int kBesideColumns = 120;
constexpr bool fits(std::span<const Line> lines, int indent) {
  return std::ranges::all_of(lines, [&](const Line& line) {
    return static_cast<int>(line.meaning.size()) <= kBesideColumns / 2 - 4 - indent;
  });
}
static_assert(fits(kKeys, kKeyColumns) && fits(kWords, kWordColumns));

// The lines from `first` on, as far as there is room; a line of the keys is indented for them.
void draw_lines(Canvas& canvas, const view::Rect& place, std::span<const Line> lines, int first,
                int indent) {
  const int count = static_cast<int>(lines.size());
  first = std::clamp(first, 0, std::max(0, count - place.rows));
  const int shown = std::min(place.rows, count - first);
  for (int i = 0; i < shown; ++i) {
    const Line& line = lines[static_cast<std::size_t>(first + i)];
    canvas.grid.text(place.x + 1, place.y + i, line.keys, looks::kKey, indent - 1);
    canvas.grid.text(place.x + 1 + indent, place.y + i, line.meaning, looks::kText,
                     place.columns - indent - 2);
  }
  const view::Rect body{place.x, place.y, place.columns - 1, place.rows};
  draw_scroll_mark(canvas, body, first, shown, count);
}

// Both lists in one, where they do not stand beside each other.
const std::vector<Line>& all_lines() {
  static const std::vector<Line> kAll = [] {
    std::vector<Line> lines(kKeys.begin(), kKeys.end());
    lines.push_back({});
    lines.insert(lines.end(), kWords.begin(), kWords.end());
    return lines;
  }();
  return kAll;
}

}  // namespace

int help_lines() { return static_cast<int>(all_lines().size()); }

void draw_help(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const int first = scene.state.list().selected;
  if (place.columns < kBesideColumns) {
    const view::Rect inside =
        draw_panel(canvas, place, "Keys and terms", "the mouse works as well");
    return draw_lines(canvas, inside, all_lines(), first, kKeyColumns);
  }
  const view::Rect keys{place.x, place.y, place.columns / 2, place.rows};
  const view::Rect words{keys.right(), place.y, place.columns - keys.columns, place.rows};
  draw_lines(canvas, draw_panel(canvas, keys, "Keys", "the mouse works as well"), kKeys, first,
             kKeyColumns);
  draw_lines(canvas, draw_panel(canvas, words, "Words"), kWords, first, kWordColumns);
}

}  // namespace ttmem::top
