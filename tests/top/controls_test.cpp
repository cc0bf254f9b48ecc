// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/controls.hpp"

#include <gtest/gtest.h>

#include "top/example_frame.hpp"
#include "top/sort_orders.hpp"
#include "top/views.hpp"
#include "view/ansi.hpp"

namespace ttmem::top {
namespace {

class Controls : public testing::Test {
 protected:
  Outcome press(Input input) {
    const Canvas canvas = draw_screen({frame, history, state}, 120, 40);
    return apply(state, input, {frame, history, canvas.zones, 40});
  }
  Outcome press(Key key) { return press(Input{key}); }
  Outcome press(char32_t character) { return press(Input{Key::kCharacter, character}); }
  void type(std::u32string_view text) {
    for (const char32_t character : text) press(character);
  }

  Frame frame = example_frame();
  History history = example_history(frame);
  ScreenState state;
};

TEST_F(Controls, TabGoesThroughAllViewsAndBack) {
  const auto views = views_of(state);
  ASSERT_EQ(views.size(), 8u);
  for (std::size_t i = 1; i <= views.size(); ++i) {
    press(Key::kTab);
    EXPECT_EQ(state.view, views[i % views.size()]);
  }
  press(Key::kBackTab);
  EXPECT_EQ(state.view, View::kHelp);
}

TEST_F(Controls, DigitsNameViews) {
  press(U'3');
  EXPECT_EQ(state.view, View::kPrograms);
  press(U'6');
  EXPECT_EQ(state.view, View::kDead);
  press(U'7');
  EXPECT_EQ(state.view, View::kJobs);
  press(U'8');  // there is none
  EXPECT_EQ(state.view, View::kJobs);
}

TEST_F(Controls, TheOverviewIsOneListOfDevicesAndProcesses) {
  press(Key::kDown);
  EXPECT_EQ(state.row, RowKind::kDevice);
  EXPECT_EQ(state.device, 0x1000u);
  for (int i = 0; i < 4; ++i) press(Key::kDown);
  EXPECT_EQ(state.row, RowKind::kProcess);
  EXPECT_EQ(state.process, process_id(frame.snapshot.processes[1]));  // the most DRAM
  press(Key::kEnter);
  EXPECT_EQ(state.view, View::kProcess);
  press(Key::kEscape);
  EXPECT_EQ(state.view, View::kOverview);
}

TEST_F(Controls, EnterShowsWhatCanBeOpenedFirst) {
  press(Key::kEnter);
  EXPECT_EQ(state.view, View::kOverview);
  EXPECT_EQ(state.row, RowKind::kDevice);
  press(Key::kEnter);
  EXPECT_EQ(state.view, View::kDevice);
}

TEST_F(Controls, TheSelectionStaysOnItsProcessWhenTheOrderChanges) {
  press(Key::kEnd);
  const auto chosen = state.process;
  press(U'r');
  EXPECT_EQ(state.process, chosen);
  press(Key::kUp);  // it is the first now, so the last device is above it
  EXPECT_EQ(state.row, RowKind::kDevice);
}

TEST_F(Controls, EnterOnADeviceOpensItAndArrowsMoveTheCursor) {
  press(Key::kDown);
  press(Key::kEnter);
  ASSERT_EQ(state.view, View::kDevice);
  press(Key::kRight);
  press(Key::kDown);
  EXPECT_EQ(state.core_column, 1);
  EXPECT_EQ(state.core_row, 3);  // two rows of ethernet stand above the workers
  for (int i = 0; i < 100; ++i) press(Key::kLeft);
  EXPECT_EQ(state.core_column, 0);
  press(U'c');
  EXPECT_EQ(state.core_figure, CoreFigure::kHeadroom);
}

TEST_F(Controls, KernelsHaveAListOfTheirOwn) {
  press(U'2');
  press(U'f');
  ASSERT_TRUE(state.kernels);
  const int column = state.core_column;
  press(Key::kEnd);
  EXPECT_EQ(state.list().selected, 2);
  press(Key::kRight);  // another order, and no other core
  EXPECT_EQ(state.core_column, column);
  EXPECT_EQ(kernel_orders()[static_cast<std::size_t>(state.list().sort)].title, "size");
  press(U'/');
  type(U"READER");
  press(Key::kEnter);
  EXPECT_EQ(kernel_rows({frame, history, state}).size(), 1u);
  press(Key::kEscape);
  EXPECT_EQ(kernel_rows({frame, history, state}).size(), 3u);
  press(Key::kEnter);
  EXPECT_EQ(state.view, View::kProcess);
  EXPECT_EQ(state.process, process_id(frame.snapshot.processes[0]));
  press(U'2');
  press(Key::kEscape);
  EXPECT_FALSE(state.kernels);
  press(U's');  // the order is that of the kernels: show them
  EXPECT_TRUE(state.kernels);
}

TEST_F(Controls, NextDeviceGoesRound) {
  press(U'2');
  for (const std::uint64_t id : {0x1001u, 0x1002u, 0x1003u, 0x1000u}) {
    press(U'n');
    EXPECT_EQ(state.device, id);
  }
  press(U'p');
  EXPECT_EQ(state.device, 0x1003u);
}

TEST_F(Controls, TheFilterNarrowsTheListWhileItIsTyped) {
  press(U'/');
  type(U"SER1q");  // q is a letter here
  EXPECT_TRUE(state.editing_filter);
  press(Key::kBackspace);
  EXPECT_EQ(state.list().filter, "SER1");
  press(Key::kEnter);
  EXPECT_FALSE(state.editing_filter);
  EXPECT_EQ(process_rows({frame, history, state}, true, state.list()).size(), 2u);
  press(Key::kEscape);
  EXPECT_TRUE(state.list().filter.empty());
  EXPECT_EQ(state.view, View::kOverview);
}

TEST_F(Controls, BackspaceTakesWholeCharacters) {
  press(U'/');
  type(U"推論");
  press(Key::kBackspace);
  EXPECT_EQ(state.list().filter, "推");
}

TEST_F(Controls, TheSortMenuChoosesAnOrder) {
  press(U's');
  EXPECT_TRUE(state.sort_menu);
  press(Key::kDown);
  press(Key::kEnter);
  EXPECT_FALSE(state.sort_menu);
  EXPECT_EQ(process_orders()[static_cast<std::size_t>(state.list().sort)].title, "L1 used");
  press(Key::kRight);
  EXPECT_EQ(process_orders()[static_cast<std::size_t>(state.list().sort)].title, "program L1");
}

TEST_F(Controls, RefreshStaysBetweenATenthAndAMinute) {
  for (int i = 0; i < 20; ++i) press(U'+');
  EXPECT_DOUBLE_EQ(state.interval_s, 0.1);
  for (int i = 0; i < 20; ++i) press(U'-');
  EXPECT_DOUBLE_EQ(state.interval_s, 60);
}

TEST_F(Controls, SpacePausesAndQuitQuits) {
  press(U' ');
  EXPECT_TRUE(state.paused);
  EXPECT_EQ(press(U'x'), Outcome::kGoOn);
  EXPECT_EQ(press(U'q'), Outcome::kQuit);
  press(U'/');
  EXPECT_EQ(press(char32_t{3}), Outcome::kQuit);  // Ctrl-C, also while typing
  EXPECT_EQ(press(char32_t{26}), Outcome::kStop);
  EXPECT_EQ(press(char32_t{12}), Outcome::kRedraw);
}

TEST_F(Controls, ClicksChooseTabsRowsAndTitles) {
  const auto click = [this](ZoneKind kind, int number) {
    const Canvas canvas = draw_screen({frame, history, state}, 120, 40);
    for (const Zone& zone : canvas.zones) {
      if (zone.kind == kind && zone.number == number) {
        return press(Input{Key::kClick, 0, zone.place.x, zone.place.y});
      }
    }
    ADD_FAILURE() << "nothing to click on";
    return Outcome::kGoOn;
  };
  click(ZoneKind::kRow, 5);
  EXPECT_EQ(state.process, process_id(frame.snapshot.processes[0]));
  click(ZoneKind::kRow, 5);  // again: open
  EXPECT_EQ(state.view, View::kProcess);
  click(ZoneKind::kView, 0);
  EXPECT_EQ(state.view, View::kOverview);
  click(ZoneKind::kSort, 1);
  EXPECT_EQ(state.list().sort, 1);
  click(ZoneKind::kView, 1);
  click(ZoneKind::kCore, 4 * 256 + 3);
  EXPECT_EQ(state.core_column, 3);
  EXPECT_EQ(state.core_row, 4);
  EXPECT_EQ(click(ZoneKind::kKey, 'q'), Outcome::kQuit);
}

TEST_F(Controls, FailuresOpenAndCloseAgain) {
  press(U'4');
  state.process = process_id(frame.snapshot.processes[3]);
  press(U'f');
  EXPECT_TRUE(state.failures);
  press(Key::kEnter);
  EXPECT_EQ(state.open_failure, 1u);
  EXPECT_EQ(request_for(state, frame.snapshot).failure, 1u);
  press(Key::kEscape);
  EXPECT_EQ(state.open_failure, 0u);
  press(Key::kEscape);
  EXPECT_FALSE(state.failures);
}

TEST_F(Controls, ThePictureOfAFailureIsAListOfItsOwn) {
  state.view = View::kProcess;
  state.failures = true;
  state.process = process_id(frame.snapshot.processes[3]);
  state.open_failure = 1;
  frame.process->picture.assign(40, {});
  press(Key::kEnd);
  EXPECT_EQ(state.list().selected, 39);
}

TEST_F(Controls, WhoEndedLastIsTheFirstOfTheDead) {
  frame.snapshot.processes[5].ended_at = kExampleTime - 1;
  press(U'6');
  const auto first = [this] {
    return process_rows({frame, history, state}, false, state.list()).front().process->pid;
  };
  EXPECT_EQ(first(), 3050);
  press(U'r');
  EXPECT_EQ(first(), 3001);
  press(Key::kLeft);  // the last of the orders: who lived longest
  EXPECT_EQ(dead_orders()[static_cast<std::size_t>(state.list().sort)].title, "lived");
  EXPECT_EQ(first(), 3001);
}

TEST_F(Controls, TheSelectedEventStaysWhileOthersCome) {
  state.view = View::kEvents;
  press(Key::kUp);
  press(Key::kUp);
  const auto selected = [this] {
    const auto rows = event_rows({frame, history, state});
    return rows[rows.size() - 1 - static_cast<std::size_t>(state.list().selected)];
  };
  const EventLine* event = selected();
  Frame next = frame;
  next.events.erase(next.events.begin(), next.events.begin() + 5);
  for (int i = 0; i < 9; ++i) next.events.push_back(std::make_shared<EventLine>());
  state.list().selected = event_selected_in({frame, history, state}, next);
  EXPECT_EQ(state.list().selected, 11);
  frame = next;
  EXPECT_EQ(selected(), event);
  next.events.assign(3, std::make_shared<EventLine>());  // it is forgotten: the oldest
  EXPECT_EQ(event_selected_in({frame, history, state}, next), 2);
  state.list().selected = 0;  // the newest is followed
  EXPECT_EQ(event_selected_in({frame, history, state}, next), 0);
}

TEST_F(Controls, TheHelpIsScrolledToItsEndAndNoFurther) {
  press(U'?');
  const auto shown = [this] {
    return view::plain_text(draw_screen({frame, history, state}, 60, 16).grid);
  };
  const auto press_in_16_rows = [this](Key key) {
    apply(state, Input{key}, {frame, history, {}, 16});
  };
  EXPECT_EQ(shown().find("red name"), std::string::npos);
  press_in_16_rows(Key::kEnd);
  EXPECT_NE(shown().find("red name"), std::string::npos);
  EXPECT_EQ(state.list().selected, help_lines() - 12);
  press_in_16_rows(Key::kUp);
  EXPECT_EQ(shown().find("red name"), std::string::npos);
}

// Two stacks: main.py:1 f > main.py:2 g > a.py:3 h, and there either ttnn.ones or b.py:4 i >
// ttnn.add.
std::vector<TreeRow> two_stacks() {
  std::vector<ledger::OriginTotal> stacks(2);
  stacks[0].path = {"/m/main.py:1 f", "/m/main.py:2 g", "/m/a.py:3 h", "ttnn.ones"};
  stacks[1].path = {"/m/main.py:1 f", "/m/main.py:2 g", "/m/a.py:3 h", "/m/b.py:4 i", "ttnn.add"};
  stacks[0].space(ledger::Space::kDram).taken = 4096;
  stacks[1].space(ledger::Space::kDram).taken = 2048;
  std::vector<TreeRow> tree;
  for (view::OriginStep& step : view::origin_tree(stacks)) tree.push_back({std::move(step), ""});
  tree[0].source = "run(model)";
  return tree;
}

TEST_F(Controls, AStepUnfoldsDownToWhereItBranchesAndFolds) {
  state.view = View::kProcess;
  state.process = frame.process->process;
  frame.process->tree = two_stacks();
  const auto shows = [this](const char* text) {
    return view::plain_text(draw_screen({frame, history, state}, 120, 40).grid).find(text) !=
           std::string::npos;
  };
  press(U't');
  EXPECT_TRUE(shows("▸ main.py:1 f")) << "without the folders";
  EXPECT_TRUE(shows("run(model)"));
  EXPECT_FALSE(shows("main.py:2 g"));
  press(Key::kEnter);
  EXPECT_TRUE(shows("▾ main.py:1 f"));
  EXPECT_TRUE(shows("  ▾ main.py:2 g"));
  EXPECT_TRUE(shows("    ▾ a.py:3 h"));
  EXPECT_TRUE(shows("        ttnn.ones"));
  EXPECT_TRUE(shows("      ▸ b.py:4 i")) << "here it branches";
  EXPECT_FALSE(shows("ttnn.add"));
  press(Key::kEnd);
  press(Key::kEnter);
  EXPECT_TRUE(shows("ttnn.add"));
  press(Key::kHome);
  press(Key::kEnter);
  EXPECT_TRUE(shows("▸ main.py:1 f"));
  EXPECT_FALSE(shows("main.py:2 g"));
}

TEST_F(Controls, WhoIsGoneIsNotTakenForAnother) {
  state.view = View::kProcess;
  state.process = process_id(frame.snapshot.processes[0]);
  frame.snapshot.processes.erase(frame.snapshot.processes.begin());
  const auto shown = [this] {
    return view::plain_text(draw_screen({frame, history, state}, 120, 40).grid);
  };
  EXPECT_NE(shown().find("This process is gone"), std::string::npos);
  press(U'n');
  EXPECT_EQ(state.process, process_id(frame.snapshot.processes[0]));
  state.view = View::kDevice;
  state.device = 0x9999;
  EXPECT_NE(shown().find("This device is gone"), std::string::npos);
  press(U'p');
  EXPECT_EQ(state.device, 0x1003u);
}

TEST_F(Controls, AnythingMayBePressedAnywhereWithNothingToShow) {
  frame = {};
  history = {};
  for (const char32_t view : U"123456?") {
    press(view);
    for (const char32_t key : U"s\r/x\r\x1b fnpcrb+-jk\x1b") press(key);
    for (int key = static_cast<int>(Key::kUp); key <= static_cast<int>(Key::kWheelDown); ++key) {
      press(Input{static_cast<Key>(key), 0, 5, 5});
    }
  }
  SUCCEED();
}

}  // namespace
}  // namespace ttmem::top
