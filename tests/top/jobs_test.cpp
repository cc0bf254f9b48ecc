// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Jobs and fleets on the screen: what is told of them, and where keys lead.
#include <gtest/gtest.h>

#include "top/controls.hpp"
#include "top/example_frame.hpp"
#include "top/fleet_rows.hpp"
#include "view/ansi.hpp"

namespace ttmem::top {
namespace {

class Jobs : public testing::Test {
 protected:
  std::string screen() {
    return view::plain_text(draw_screen({frame, history, state}, 160, 40).grid);
  }
  void press(Input input) {
    const Canvas canvas = draw_screen({frame, history, state}, 160, 40);
    apply(state, input, {frame, history, canvas.zones, 40});
  }
  void press(Key key) { press(Input{key}); }
  void press(char32_t character) { press(Input{Key::kCharacter, character}); }
  bool shows(const std::string& text) { return screen().find(text) != std::string::npos; }

  Frame frame = example_frame();
  History history;
  ScreenState state;
};

TEST_F(Jobs, AJobIsOneRowAndOpensToItsRanks) {
  press(U'7');
  EXPECT_TRUE(shows("rack/31.0")) << screen();
  EXPECT_TRUE(shows("2 of 4")) << screen();
  press(Key::kEnter);
  ASSERT_EQ(state.job, (JobId{"rack/31.0", "user2"}));
  EXPECT_TRUE(shows("not here: rank 2, 3")) << screen();
  EXPECT_TRUE(shows("first to die: rank 2")) << screen();
  EXPECT_TRUE(shows("DRAM differs between ranks by")) << screen();
  press(Key::kDown);
  press(Key::kEnter);
  EXPECT_EQ(state.view, View::kProcess);
  EXPECT_EQ(state.process, process_id(frame.snapshot.processes[2]));
}

TEST_F(Jobs, EscapeLeadsBackToAllJobsAndThenToTheOverview) {
  press(U'7');
  press(Key::kEnter);
  press(Key::kEscape);
  EXPECT_FALSE(state.job);
  EXPECT_EQ(state.view, View::kJobs);
  press(Key::kEscape);
  EXPECT_EQ(state.view, View::kOverview);
}

TEST_F(Jobs, TheFilterChoosesJobs) {
  state.view = View::kJobs;
  state.list().filter = "LLAMA";
  EXPECT_EQ(job_rows({frame, history, state}).size(), 1u);
  state.list().filter = "other";
  EXPECT_TRUE(shows("No job matches the filter.")) << screen();
}

TEST_F(Jobs, AJobThatIsGoneIsSaidToBe) {
  press(U'7');
  press(Key::kEnter);
  for (auto& process : frame.snapshot.processes) process.job = {};
  EXPECT_TRUE(shows("Nothing is left of this job.")) << screen();
  press(Key::kEnter);  // opens nothing
  EXPECT_EQ(state.view, View::kJobs);
  press(Key::kEscape);
  EXPECT_TRUE(shows("ttmem run --job NAME")) << screen();
}

class Fleet : public Jobs {
 protected:
  Fleet() {
    frame = fleet_frame();
    state.fleet = true;
    state.view = View::kHosts;
  }
};

TEST_F(Fleet, HasViewsOfItsOwn) {
  for (const View view : {View::kHost, View::kJobs, View::kHelp, View::kHosts}) {
    press(Key::kTab);
    EXPECT_EQ(state.view, view);
  }
  press(U'3');
  EXPECT_EQ(state.view, View::kJobs);
  press(U'4');  // there is none
  EXPECT_EQ(state.view, View::kJobs);
  press(Key::kEscape);
  EXPECT_EQ(state.view, View::kHosts);
}

TEST_F(Fleet, SumsAreOfTheHostsThatTell) {
  EXPECT_TRUE(shows("Partial: 1 of 4 hosts does not tell now")) << screen();
  EXPECT_TRUE(shows("Σ 3 fresh")) << screen();
  EXPECT_TRUE(shows("210.0 GiB")) << screen();  // 90 + 70 + 50
  EXPECT_TRUE(shows("stale: told nothing for 7 m 00 s")) << screen();
  EXPECT_TRUE(shows("Alert: TtmemClash on node1:7171 device 3")) << screen();
}

TEST_F(Fleet, AnEngineThatDoesNotAnswerIsSaidAndWhatItToldStays) {
  frame.fleet->problem = "127.0.0.1:1: Connection refused";
  EXPECT_TRUE(shows("127.0.0.1:1: Connection refused")) << screen();
  EXPECT_TRUE(shows("node0:7171")) << screen();
  for (const char32_t view : {U'2', U'3'}) {
    press(view);
    EXPECT_TRUE(shows("127.0.0.1:1: Connection refused")) << screen();
  }
}

TEST_F(Fleet, WhoDoesNotTellIsSaidAboveJobsToo) {
  press(U'3');
  EXPECT_TRUE(shows("Partial: 1 of 4 hosts does not tell now")) << screen();
  press(Key::kEnter);
  ASSERT_TRUE(state.job);
  EXPECT_TRUE(shows("Partial: 1 of 4 hosts does not tell now")) << screen();
}

TEST_F(Fleet, AHostOpensAndHasNeighbours) {
  press(Key::kDown);
  press(Key::kEnter);
  EXPECT_EQ(state.view, View::kHost);
  EXPECT_EQ(state.host, "node1:7171");
  frame.fleet->host = "node1:7171";
  press(U'n');
  EXPECT_EQ(state.host, "node2:7171");
  EXPECT_EQ(request_for(state, frame.snapshot).host, "node2:7171");
}

TEST_F(Fleet, AJobOpensToItsHostsTheTightestFirst) {
  press(U'3');
  EXPECT_TRUE(shows("7 of 8")) << screen();
  press(Key::kEnter);
  EXPECT_EQ(request_for(state, frame.snapshot).job, (JobId{"rack/31.0", "user2"}));
  EXPECT_TRUE(shows("first to die: rank 6 on node1:7171, holding DRAM 19.0 GiB, L1 ?")) << screen();
  press(Key::kEnter);
  EXPECT_EQ(state.view, View::kHost);
  EXPECT_EQ(state.host, "node1:7171");
}

TEST_F(Fleet, WhatIsNotKnownIsNoZero) {
  state.view = View::kHost;
  const std::string text = screen();
  const std::size_t line = text.find("     1  n300");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_NE(text.find("?", line), std::string::npos) << text;
}

TEST_F(Fleet, BeforeTheFirstAnswerNothingIsSaid) {
  frame = {};
  for (const View view : views_of(state)) {
    state.view = view;
    EXPECT_EQ(screen().find("0 B"), std::string::npos) << screen();
  }
}

}  // namespace
}  // namespace ttmem::top
