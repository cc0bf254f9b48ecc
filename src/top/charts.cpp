// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/views.hpp"
#include "view/bars.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

constexpr int kLabelColumns = 11;

void draw_one(Canvas& canvas, const view::Rect& place, std::string_view label, const Series& series,
              view::Ink ink) {
  if (place.rows <= 0) return;
  canvas.grid.text(place.x + 1, place.y, label, view::Look{ink}.bold());
  if (place.rows > 1) {
    canvas.grid.text(place.x + 1, place.y + 1, view::bytes_text(series.largest()), looks::kSoft,
                     kLabelColumns - 1);
  }
  const view::Rect area{place.x + 1 + kLabelColumns, place.y, place.columns - 2 - kLabelColumns,
                        place.rows};
  if (area.columns <= 0) return;
  view::draw_chart(canvas.grid, area, series.columns(static_cast<std::size_t>(area.columns) * 2),
                   series.largest(), {ink});
}

// What it is now more (or less) than a minute ago; nothing while that is not known.
std::string change_text(const Series& series) {
  constexpr std::size_t kMinute = 60'000'000'000 / kBucketNs;
  const auto values = series.columns(kBuckets);
  const auto before = values[kBuckets - 1 - kMinute], now = values.back();
  if (!before || !now) return "";
  const auto change = static_cast<std::int64_t>(*now) - static_cast<std::int64_t>(*before);
  return (change > 0 ? "+" : "") + view::signed_bytes_text(change);
}

std::string changes_note(const Track& track) {
  const std::string dram = change_text(track.dram), l1 = change_text(track.l1);
  return dram.empty() ? "" : "in 60 s DRAM " + dram + "   L1 " + l1;
}

}  // namespace

void draw_charts(Canvas& canvas, const view::Rect& place, const std::string& title,
                 const Track* track) {
  const std::string note = track != nullptr ? changes_note(*track) : "";
  const view::Rect inside = draw_panel(canvas, place, title, note);
  if (track == nullptr) return draw_centred(canvas, inside, {"no history"});
  const bool beside = inside.columns >= inside.rows * 12;
  const int columns = beside ? inside.columns / 2 : inside.columns;
  const int rows = beside ? inside.rows : inside.rows / 2;
  draw_one(canvas, {inside.x, inside.y, columns, rows}, "DRAM", track->dram, view::Ink::kDram);
  draw_one(canvas,
           beside ? view::Rect{inside.x + columns, inside.y, inside.columns - columns, rows}
                  : view::Rect{inside.x, inside.y + rows, columns, inside.rows - rows},
           "L1", track->l1, view::Ink::kBuffers);
}

}  // namespace ttmem::top
