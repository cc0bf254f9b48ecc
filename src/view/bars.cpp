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

std::vector<Slice> slices(std::span<const BarPart> parts, const std::vector<int>& units) {
  std::vector<Ink> inks;
  for (const int part : units) {
    inks.push_back(part < 0 ? Ink::kTrack : parts[static_cast<std::size_t>(part)].ink);
  }
  std::vector<Slice> result(inks.size() / kEighths);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto begin = inks.begin() + static_cast<std::ptrdiff_t>(i * kEighths);
    const auto end = begin + kEighths;
    Slice& slice = result[i];
    slice.first = *begin;
    const auto change = std::find_if(begin, end, [&](Ink ink) { return ink != slice.first; });
    slice.eighths = static_cast<int>(change - begin);
    // Of what is left of the cell, the one that has most of it.
    slice.second = slice.first;
    std::ptrdiff_t most = 0;
    for (auto at = change; at != end; ++at) {
      const auto count = std::count(change, end, *at);
      if (count >= most && *at != slice.first) {
        most = count;
        slice.second = *at;
      }
    }
  }
  return result;
}

// A full cell is a block in its ink, so that the characters alone tell it from the track.
Cell cell_of(const Slice& slice, std::span<const char32_t> partial) {
  if (slice.eighths < kEighths) {
    return {partial[static_cast<std::size_t>(slice.eighths)], 0, {slice.first, slice.second}};
  }
  if (slice.first == Ink::kTrack) return {U' ', 0, {Ink::kDefault, Ink::kTrack}};
  return {U'█', 0, {slice.first}};
}

using Divide = std::vector<int> (*)(std::span<const BarPart>, std::uint64_t, int);

// `length` cells, divided among the parts, along the bar.
std::vector<Cell> cells_along(std::span<const BarPart> parts, std::uint64_t whole, int length,
                              bool colours, Divide divide, std::span<const char32_t> partial) {
  std::vector<Cell> cells;
  if (length <= 0) return cells;
  if (colours) {
    for (const Slice& slice : slices(parts, divide(parts, whole, length * kEighths))) {
      cells.push_back(cell_of(slice, partial));
    }
    return cells;
  }
  for (const int part : divide(parts, whole, length)) {
    cells.push_back({part < 0 ? U'·' : parts[static_cast<std::size_t>(part)].texture, 0, {}});
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
  for (const Cell& cell : cells_along(parts, whole, columns, colours, by_share, kFromLeft)) {
    grid.put(x++, y, cell.character, cell.look);
  }
}

void draw_strip(Grid& grid, int x, int y, int columns, std::span<const BarPart> parts,
                std::uint64_t whole, bool colours) {
  for (const Cell& cell : cells_along(parts, whole, columns, colours, by_place, kFromLeft)) {
    grid.put(x++, y, cell.character, cell.look);
  }
}

void draw_tower(Grid& grid, const Rect& place, std::span<const BarPart> parts, std::uint64_t whole,
                bool colours) {
  int y = place.bottom() - 1;
  for (const Cell& cell : cells_along(parts, whole, place.rows, colours, by_place, kFromBelow)) {
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
