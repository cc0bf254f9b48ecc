// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/bars.hpp"

#include <algorithm>
#include <array>
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
  return std::clamp(static_cast<int>(part * levels + 0.5), 1, levels);
}

// Which part covers the most of each cell, and the boundary inside of it.
struct Slice {
  Ink first = Ink::kTrack, second = Ink::kTrack;
  int eighths = kEighths;  // of the first
};

std::vector<Slice> slices(std::span<const BarPart> parts, std::uint64_t whole, int cells) {
  std::vector<std::uint64_t> amounts;
  for (const BarPart& part : parts) amounts.push_back(part.amount);
  const std::vector<int> widths = shares(amounts, whole, cells * kEighths);
  std::vector<Ink> inks;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    inks.insert(inks.end(), static_cast<std::size_t>(widths[i]), parts[i].ink);
  }
  inks.resize(static_cast<std::size_t>(cells * kEighths), Ink::kTrack);
  std::vector<Slice> result(static_cast<std::size_t>(cells));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto begin = inks.begin() + static_cast<std::ptrdiff_t>(i * kEighths);
    const auto end = begin + kEighths;
    Slice& slice = result[i];
    slice.first = *begin;
    const auto change = std::find_if(begin, end, [&](Ink ink) { return ink != slice.first; });
    slice.eighths = static_cast<int>(change - begin);
    slice.second = change == end ? slice.first : *std::prev(end);
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

std::vector<char32_t> textures(std::span<const BarPart> parts, std::uint64_t whole, int cells) {
  std::vector<std::uint64_t> amounts;
  for (const BarPart& part : parts) amounts.push_back(part.amount);
  const std::vector<int> widths = shares(amounts, whole, cells);
  std::vector<char32_t> result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result.insert(result.end(), static_cast<std::size_t>(widths[i]), parts[i].texture);
  }
  result.resize(static_cast<std::size_t>(cells), U'·');
  return result;
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
      std::min(units, static_cast<int>(static_cast<double>(sum) / scale * units + 0.5));
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
  if (columns <= 0) return;
  if (!colours) {
    for (const char32_t texture : textures(parts, whole, columns)) grid.put(x++, y, texture, {});
    return;
  }
  for (const Slice& slice : slices(parts, whole, columns)) {
    const Cell cell = cell_of(slice, kFromLeft);
    grid.put(x++, y, cell.character, cell.look);
  }
}

void draw_tower(Grid& grid, const Rect& place, std::span<const BarPart> parts, std::uint64_t whole,
                bool colours) {
  if (place.rows <= 0) return;
  int y = place.bottom() - 1;
  if (!colours) {
    for (const char32_t texture : textures(parts, whole, place.rows)) {
      grid.fill({place.x, y--, place.columns, 1}, texture, {});
    }
    return;
  }
  for (const Slice& slice : slices(parts, whole, place.rows)) {
    const Cell cell = cell_of(slice, kFromBelow);
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
