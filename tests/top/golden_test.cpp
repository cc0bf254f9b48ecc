// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Every view of the example host at several sizes, cell by cell.
#include "support/golden.hpp"

#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "top/example_frame.hpp"
#include "view/ansi.hpp"

namespace ttmem::top {
namespace {

struct Picture {
  std::string name;
  View view = View::kOverview;
  int columns = 0, rows = 0;
  void (*change)(ScreenState&) = nullptr;
};

void PrintTo(const Picture& picture, std::ostream* out) { *out << picture.name; }

view::Grid draw(const Picture& picture) {
  setenv("TZ", "UTC", 1);
  ScreenState state;
  state.view = picture.view;
  if (picture.change != nullptr) picture.change(state);
  const Frame frame = example_frame();
  const History history = example_history(frame);
  return draw_screen({frame, history, state}, picture.columns, picture.rows).grid;
}

class Golden : public testing::TestWithParam<Picture> {};

TEST_P(Golden, IsDrawnAsBefore) {
  const Picture& picture = GetParam();
  EXPECT_GOLDEN(picture.name + ".txt", view::plain_text(draw(picture)));
}

// Nothing may be drawn over the frame on the right, between the first line and the keys below.
TEST_P(Golden, LeavesItsFrameWhole) {
  const Picture& picture = GetParam();
  if (picture.columns < kLeastColumns) return;
  if (picture.view == View::kDevice && picture.columns < 80) return;  // a card without a frame
  const view::Grid grid = draw(picture);
  for (int y = 1; y < picture.rows - 1; ++y) {
    const char32_t edge = grid.at(picture.columns - 1, y).character;
    EXPECT_TRUE(edge == U'│' || edge == U'╮' || edge == U'╯') << "line " << y;
  }
}

std::vector<Picture> pictures() {
  const std::vector<std::pair<std::string, View>> views = {
      {"overview", View::kOverview}, {"device", View::kDevice}, {"programs", View::kPrograms},
      {"process", View::kProcess},   {"events", View::kEvents}, {"dead", View::kDead},
      {"jobs", View::kJobs},         {"help", View::kHelp}};
  const std::vector<std::pair<int, int>> sizes = {
      {60, 16}, {80, 24}, {120, 40}, {200, 55}, {300, 80}};
  std::vector<Picture> all;
  for (const auto& [name, view] : views) {
    for (const auto& [columns, rows] : sizes) {
      all.push_back({fmt::format("{}_{}x{}", name, columns, rows), view, columns, rows, nullptr});
    }
  }
  all.push_back({"too_small_50x12", View::kOverview, 50, 12, nullptr});
  all.push_back({"no_colours_120x40", View::kOverview, 120, 40,
                 [](ScreenState& state) { state.colours = false; }});
  all.push_back({"device_no_colours_120x40", View::kDevice, 120, 40,
                 [](ScreenState& state) { state.colours = false; }});
  for (const auto& [columns, rows] : {std::pair{60, 16}, std::pair{80, 24}}) {
    all.push_back({fmt::format("kernels_{}x{}", columns, rows), View::kDevice, columns, rows,
                   [](ScreenState& state) { state.kernels = true; }});
  }
  for (const auto& [columns, rows] : {std::pair{60, 16}, std::pair{120, 40}}) {
    all.push_back({fmt::format("timeline_{}x{}", columns, rows), View::kPrograms, columns, rows,
                   [](ScreenState& state) { state.timeline = true; }});
  }
  all.push_back({"timeline_no_colours_120x40", View::kPrograms, 120, 40, [](ScreenState& state) {
                   state.timeline = true;
                   state.colours = false;
                 }});
  all.push_back({"event_in_full_60x16", View::kEvents, 60, 16,
                 [](ScreenState& state) { state.list().selected = 2; }});
  all.push_back({"exact_bytes_160x40", View::kOverview, 160, 40,
                 [](ScreenState& state) { state.exact = true; }});
  all.push_back({"sort_menu_100x30", View::kOverview, 100, 30, [](ScreenState& state) {
                   state.sort_menu = true;
                   state.menu_row = 2;
                 }});
  all.push_back({"filter_100x30", View::kOverview, 100, 30, [](ScreenState& state) {
                   state.editing_filter = true;
                   state.list().filter = "py";
                 }});
  all.push_back({"failures_120x40", View::kProcess, 120, 40, [](ScreenState& state) {
                   state.failures = true;
                   state.process = process_id(example_frame().snapshot.processes[3]);
                 }});
  for (const auto& [columns, rows] : {std::pair{60, 16}, std::pair{120, 40}}) {
    all.push_back({fmt::format("job_{}x{}", columns, rows), View::kJobs, columns, rows,
                   [](ScreenState& state) { state.job = JobId{"rack/31.0", "user2"}; }});
  }
  all.push_back({"stale_100x30", View::kOverview, 100, 30,
                 [](ScreenState& state) { state.data_age_s = 12; }});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Views, Golden, testing::ValuesIn(pictures()),
                         [](const auto& instance) { return instance.param.name; });

TEST(GoldenColours, DarkOverviewInTrueColour) {
  const view::Grid grid = draw({"", View::kOverview, 100, 30, nullptr});
  EXPECT_GOLDEN(
      "colours_dark_100x30.txt",
      view::styled_text(grid, {view::Palette(view::Theme::kDark), view::ColourDepth::kTrue}));
}

TEST(GoldenColours, LightDeviceIn256Colours) {
  const view::Grid grid = draw({"", View::kDevice, 100, 30, nullptr});
  EXPECT_GOLDEN(
      "colours_light_100x30.txt",
      view::styled_text(grid, {view::Palette(view::Theme::kLight), view::ColourDepth::k256}));
}

}  // namespace
}  // namespace ttmem::top
