// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/bars.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace ttmem::view {
namespace {

constexpr int kEighths = 8;
constexpr std::array<char32_t, 8> kFromLeft = {U' ', U'▏', U'▎', U'▍', U'▌', U'▋', U'▊', U'▉'};
constexpr std::array<char32_t, 9> kFromBelow = {U' ', U'▁', U'▂', U'▃', U'▄',
                                                U'▅', U'▆', U'▇', U'█'};

int level(std::uint64_t value, std::uint64_t top, int levels) {
  if (value == 0 || top == 0) return 0;
  const double part = std::min(1.0, static_cast<double>(value) / static_cast<double>(top));
  return std::clamp(static_cast<int>(std::lround(part * levels)), 1, levels);
}

// The boundary inside of a cell.
struct Slice {
  Ink first = Ink::kTrack, second = Ink::kTrack;
  int eighths = kEighths;  // of the first
};

// For each of `units`, which part it shows; -1 = none. Every part has its share.
std::vector<int> by_share(std::span<const BarPart> parts, std::uint64_t whole, int units) {
  std::vector<std::uint64_t> amounts;
  for (const BarPart& part : parts) amounts.push_back(part.amount);
  const std::vector<int> widths = shares(amounts, whole, units);
  std::vector<int> result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result.insert(result.end(), static_cast<std::size_t>(widths[i]), static_cast<int>(i));
  }
  result.resize(static_cast<std::size_t>(units), -1);
  return result;
}

// The same, but a unit shows a part of the ink that covers most of its stretch of the whole.
std::vector<int> by_place(std::span<const BarPart> parts, std::uint64_t whole, int units) {
  std::vector<int> result(static_cast<std::size_t>(units), -1);
  std::array<double, kInks> covered{};  // of the unit that is being filled
  std::size_t filling = 0;
  double most = 0, begin = 0;
  const double scale = units / static_cast<double>(std::max<std::uint64_t>(whole, 1));
  for (std::size_t i = 0; i < parts.size() && begin < units; ++i) {
    const double end =
        std::min<double>(units, begin + static_cast<double>(parts[i].amount) * scale);
    while (begin < end) {
      const auto unit = static_cast<std::size_t>(begin);
      const double stop = std::min(end, static_cast<double>(unit) + 1);
      if (unit != filling) {
        covered.fill(0);
        most = 0;
        filling = unit;
      }
      double& mine = covered[static_cast<std::size_t>(parts[i].ink)];
      mine += stop - begin;
      if (mine > most) {
        most = mine;
        result[unit] = static_cast<int>(i);
      }
      begin = stop;
    }
  }
  return result;
}

// The ink that most of them have; of equals the last.
Ink most_of(std::span<const Ink> inks) {
  Ink best = Ink::kTrack;
  std::ptrdiff_t most = 0;
  for (const Ink ink : inks) {
    const auto count = std::count(inks.begin(), inks.end(), ink);
    if (count >= most) {
      most = count;
      best = ink;
    }
  }
  return best;
}

// The first ink up to where it ends, so that a small part is still seen; then, of what is left of
// the cell, the one that has most of it.
Slice keep_first(std::span<const Ink> cell) {
  Slice slice{cell.front(), cell.front(), kEighths};
  const auto change =
      std::find_if(cell.begin(), cell.end(), [&](Ink ink) { return ink != slice.first; });
  slice.eighths = static_cast<int>(change - cell.begin());
  std::vector<Ink> rest(change, cell.end());
  std::erase(rest, slice.first);
  if (!rest.empty()) slice.second = most_of(rest);
  return slice;
}

// The boundary and the two inks that are right about most of the cell.
Slice fit_best(std::span<const Ink> cell) {
  Slice best;
  std::ptrdiff_t most = -1;
  for (std::size_t at = cell.size(); at > 0; --at) {
    const auto low = cell.first(at), high = cell.subspan(at);
    const Slice slice{most_of(low), most_of(high), static_cast<int>(at)};
    const auto right = std::count(low.begin(), low.end(), slice.first) +
                       std::count(high.begin(), high.end(), slice.second);
    if (right > most) {
      most = right;
      best = slice;
    }
  }
  return best;
}

// A full cell is a block in its ink, so that the characters alone tell it from the track.
Cell cell_of(const Slice& slice, std::span<const char32_t> partial) {
  if (slice.eighths < kEighths) {
    return {partial[static_cast<std::size_t>(slice.eighths)], 0, {slice.first, slice.second}};
  }
  if (slice.first == Ink::kTrack) return {U' ', 0, {Ink::kDefault, Ink::kTrack}};
  return {U'█', 0, {slice.first}};
}

// How a bar is divided among its parts, and how eight units become a cell.
struct Manner {
  std::vector<int> (*divide)(std::span<const BarPart> parts, std::uint64_t whole, int units);
  Slice (*cell)(std::span<const Ink> eighths);
};
constexpr Manner kByShare{by_share, keep_first}, kByPlace{by_place, fit_best};

// `length` cells, divided among the parts, along the bar.
std::vector<Cell> cells_along(std::span<const BarPart> parts, std::uint64_t whole, int length,
                              bool colours, Manner manner, std::span<const char32_t> partial) {
  std::vector<Cell> cells;
  if (length <= 0) return cells;
  if (!colours) {
    for (const int part : manner.divide(parts, whole, length)) {
      cells.push_back({part < 0 ? U'·' : parts[static_cast<std::size_t>(part)].texture, 0, {}});
    }
    return cells;
  }
  std::vector<Ink> inks;
  for (const int part : manner.divide(parts, whole, length * kEighths)) {
    inks.push_back(part < 0 ? Ink::kTrack : parts[static_cast<std::size_t>(part)].ink);
  }
  for (std::size_t at = 0; at < inks.size(); at += kEighths) {
    cells.push_back(cell_of(manner.cell(std::span(inks).subspan(at, kEighths)), partial));
  }
  return cells;
}

}  // namespace

std::vector<int> shares(std::span<const std::uint64_t> amounts, std::uint64_t whole, int units) {
  std::vector<int> result(amounts.size(), 0);
  std::vector<double> exact(amounts.size(), 0.0);
  const std::uint64_t sum = std::accumulate(amounts.begin(), amounts.end(), std::uint64_t{0});
  const auto scale = static_cast<double>(std::max({whole, sum, std::uint64_t{1}}));
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    exact[i] = static_cast<double>(amounts[i]) / scale * units;
    result[i] = amounts[i] == 0 ? 0 : std::max(1, static_cast<int>(exact[i]));
  }
  const auto error = [&](std::size_t i) { return exact[i] - result[i]; };
  const auto total = [&] { return std::accumulate(result.begin(), result.end(), 0); };
  const int wanted =
      std::min(units, static_cast<int>(std::lround(static_cast<double>(sum) / scale * units)));
  std::vector<std::size_t> order(amounts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return error(a) > error(b); });
  for (std::size_t i = 0; i < order.size() && total() < wanted; ++i) {
    if (amounts[order[i]] > 0) ++result[order[i]];
  }
  while (total() > units) {
    auto largest = std::max_element(result.begin(), result.end());
    if (*largest == 0) break;
    --*largest;
  }
  return result;
}

void draw_bar(Grid& grid, int x, int y, int columns, std::span<const BarPart> parts,
              std::uint64_t whole, bool colours) {
  for (const Cell& cell : cells_along(parts, whole, columns, colours, kByShare, kFromLeft)) {
    grid.put(x++, y, cell.character, cell.look);
  }
}

void draw_strip(Grid& grid, int x, int y, int columns, std::span<const BarPart> parts,
                std::uint64_t whole, bool colours) {
  for (const Cell& cell : cells_along(parts, whole, columns, colours, kByPlace, kFromLeft)) {
    grid.put(x++, y, cell.character, cell.look);
  }
}

void draw_tower(Grid& grid, const Rect& place, std::span<const BarPart> parts, std::uint64_t whole,
                bool colours) {
  int y = place.bottom() - 1;
  for (const Cell& cell : cells_along(parts, whole, place.rows, colours, kByPlace, kFromBelow)) {
    grid.fill({place.x, y--, place.columns, 1}, cell.character, cell.look);
  }
}

void draw_sparkline(Grid& grid, int x, int y, Samples samples, std::uint64_t top, Look look) {
  for (const auto& sample : samples) {
    if (sample)
      grid.put(x, y, kFromBelow[static_cast<std::size_t>(std::max(1, level(*sample, top, 8)))],
               look);
    ++x;
  }
}

void draw_chart(Grid& grid, const Rect& place, Samples samples, std::uint64_t top, Look look) {
  // Dots of a braille character, by column and by height from below.
  constexpr std::array<std::array<unsigned, 4>, 2> kDots = {
      {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};
  const int levels = place.rows * 4;
  for (int column = 0; column < place.columns; ++column) {
    for (int row = 0; row < place.rows; ++row) {
      unsigned dots = 0;
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t at = static_cast<std::size_t>(column) * 2 + half;
        if (at >= samples.size() || !samples[at]) continue;
        const int height = std::max(1, level(*samples[at], top, levels));
        for (int dot = 0; dot < 4; ++dot) {
          if (height > row * 4 + dot) dots |= kDots[half][static_cast<std::size_t>(dot)];
        }
      }
      if (dots != 0) grid.put(place.x + column, place.bottom() - 1 - row, 0x2800 + dots, look);
    }
  }
}

}  // namespace ttmem::view
