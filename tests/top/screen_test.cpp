// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "support/owners.hpp"
#include "top/chip.hpp"
#include "top/device_card.hpp"
#include "top/example_frame.hpp"
#include "top/list_rows.hpp"
#include "top/source.hpp"
#include "top/views.hpp"
#include "view/ansi.hpp"

namespace ttmem::top {
namespace {

TEST(Screen, EveryViewAtEverySizeIsDrawnWithinTheGrid) {
  const Frame frame = example_frame();
  const History history = example_history(frame);
  for (std::size_t view = 0; view < kViews; ++view) {
    ScreenState state;
    state.view = static_cast<View>(view);
    for (int columns = 1; columns <= 310; columns += columns < 70 ? 1 : 17) {
      for (int rows = 1; rows <= 90; rows += rows < 24 ? 1 : 11) {
        const Canvas canvas = draw_screen({frame, history, state}, columns, rows);
        EXPECT_EQ(canvas.grid.columns(), columns);
        EXPECT_EQ(canvas.grid.rows(), rows);
      }
    }
  }
}

TEST(Screen, AProcessThatGrowsIsMarked) {
  Frame frame = example_frame();
  const History history = example_history(frame);
  const ledger::ProcessView& process = frame.snapshot.processes[0];
  ScreenState state;
  const auto screen = [&] {
    return view::plain_text(draw_screen({frame, history, state}, 140, 40).grid);
  };
  EXPECT_EQ(screen().find("▲ " + process.name), std::string::npos);
  explain::LeakSuspect suspect;
  suspect.process = std::make_shared<const ledger::ProcessName>(process);
  suspect.space = ledger::Space::kL1;
  suspect.origin = {"ttnn.add", "model.py:81 forward", ""};
  suspect.taken_per_step = 4096;
  frame.leaks.suspects = {suspect};
  EXPECT_NE(screen().find("▲ " + process.name), std::string::npos) << screen();
  state.view = View::kProcess;
  state.process = process_id(process);
  EXPECT_NE(screen().find("4.0 KiB per step in L1: ttnn.add model.py:81 forward"),
            std::string::npos)
      << screen();
}

TEST(Screen, ProcessesAddUpToTheDevices) {
  const Frame frame = example_frame();
  const History history;
  const ScreenState state;
  Totals processes;
  for (const ProcessRow& row : process_rows({frame, history, state}, true, {})) {
    for (const auto& device : row.process->devices) processes.add(device.figures);
  }
  const Totals devices = device_totals(frame.snapshot);
  EXPECT_EQ(processes.dram, devices.dram);
  EXPECT_EQ(processes.l1, devices.l1);
  EXPECT_EQ(processes.program_l1, devices.program_l1);
  EXPECT_EQ(processes.kernels, devices.kernels);
}

TEST(Screen, AChipOfUnknownSizeIsNotMeasuredByTheOthers) {
  Frame frame = example_frame();
  ASSERT_TRUE(device_totals(frame.snapshot).dram_capacity);
  ASSERT_TRUE(device_totals(frame.snapshot).l1_capacity);
  ledger::DeviceView& device = frame.snapshot.devices[0];
  device.figures.space(ledger::Space::kDram).capacity.reset();
  device.figures.l1_capacity.reset();
  device.processes = 0;
  EXPECT_TRUE(device_totals(frame.snapshot).dram_capacity) << "nobody has it open";
  device.processes = 1;
  EXPECT_FALSE(device_totals(frame.snapshot).dram_capacity);
  EXPECT_FALSE(device_totals(frame.snapshot).l1_capacity);
  EXPECT_TRUE(device_totals(frame.snapshot).dram);
}

TEST(Screen, APartOfASumIsNotToldAsTheWhole) {
  Frame frame = example_frame();
  ledger::ProcessView& process = frame.snapshot.processes[0];
  ASSERT_EQ(process.devices.size(), 2u);
  ledger::DeviceFigures& second = process.devices[1].figures;
  second.space(ledger::Space::kDram).taken.reset();
  second.space(ledger::Space::kDram).requested.reset();
  second.kernels = {};
  const History history;
  ScreenState state;
  const std::vector<ProcessRow> rows = process_rows({frame, history, state}, true, {});
  const auto row = std::ranges::find(rows, &process, &ProcessRow::process);
  ASSERT_NE(row, rows.end());
  EXPECT_EQ(row->dram, std::nullopt);
  EXPECT_EQ(row->kernels, std::nullopt);
  EXPECT_TRUE(row->l1.has_value()) << "which is known on both";
  state.view = View::kProcess;
  const std::string shown = view::plain_text(draw_screen({frame, history, state}, 120, 40).grid);
  EXPECT_NE(shown.find("│ Σ                ?"), std::string::npos) << shown;
}

TEST(Screen, TheL1BarAddsUpToTheL1OfAllWorkers) {
  for (const ledger::DeviceView& device : example_frame().snapshot.devices) {
    const L1Parts parts = l1_parts(device);
    std::uint64_t sum = 0;
    for (const view::BarPart& part : parts.parts) sum += part.amount;
    EXPECT_EQ(sum, parts.whole);
    EXPECT_EQ(sum, std::uint64_t{*device.l1_bytes_per_core} * device.tensix_cores);
  }
}

std::uint64_t tenths(const std::string& text) {
  const std::size_t point = text.find('.');
  return std::stoull(text.substr(0, point)) * 10 + static_cast<unsigned>(text[point + 1] - '0');
}

TEST(Screen, RoundedPartsAddUpToTheRoundedSum) {
  std::mt19937_64 random(35);
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::uint64_t> parts(6);
    for (std::uint64_t& part : parts) part = random() % (std::uint64_t{1} << (20 + round % 20));
    const std::vector<std::string> texts = adding_up(parts, false);
    ASSERT_EQ(texts.size(), 7u);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < 6; ++i) sum += tenths(texts[i]);
    EXPECT_EQ(sum, tenths(texts.back()));
  }
}

TEST(Screen, NamesOfStrangersCannotBreakIt) {
  Frame frame = example_frame();
  frame.snapshot.processes[0].name = "\x1b]0;evil\x07\x1b[2J\xE2\x80\xAE\xFF";
  const History history;
  ScreenState state;
  for (std::size_t view = 0; view < kViews; ++view) {
    state.view = static_cast<View>(view);
    const Canvas canvas = draw_screen({frame, history, state}, 120, 40);
    const std::string text = view::plain_text(canvas.grid);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos);
  }
}

TEST(Screen, DevicesOfAProcessWithTheSameFiguresAreOneRow) {
  Frame frame = example_frame();
  ledger::ProcessView& process = frame.snapshot.processes[0];
  const History history;
  ScreenState state;
  state.view = View::kProcess;
  const auto shown = [&] {
    return view::plain_text(draw_screen({frame, history, state}, 120, 40).grid);
  };
  EXPECT_NE(shown().find("│ 0-1 each "), std::string::npos);
  EXPECT_NE(shown().find("│ Σ "), std::string::npos);
  ledger::SpaceFigures& dram = process.devices[1].figures.space(ledger::Space::kDram);
  dram.taken = dram.requested = 1;
  EXPECT_NE(shown().find("│ 0  "), std::string::npos);
  EXPECT_NE(shown().find("│ 1  "), std::string::npos);
}

TEST(Screen, WhatAListIsSortedByIsAlwaysShown) {
  const Frame frame = example_frame();
  const History history;
  ScreenState state;
  state.view = View::kPrograms;
  const auto shown = [&] {
    return view::plain_text(draw_screen({frame, history, state}, 60, 16).grid);
  };
  EXPECT_EQ(shown().find("FIRST"), std::string::npos);
  state.list().sort = 7;
  EXPECT_NE(shown().find("FIRST▼"), std::string::npos);
}

TEST(Screen, ALineOfManySmallPiecesSaysThatItIsMostlyFree) {
  Frame frame = example_frame();
  for (ledger::CoreView& core : frame.device->cores) {
    core.map.clear();
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::uint64_t at = i * 4096;
      core.map.push_back({ledger::Stretch::kBuffer, at, at + 64, "buffer 0x17", test::owner(1)});
      core.map.push_back({ledger::Stretch::kFree, at + 64, at + 4096, "", {}});
    }
  }
  ScreenState state;
  state.view = View::kDevice;
  const History history;
  const std::string text = view::plain_text(draw_screen({frame, history, state}, 120, 40).grid);
  EXPECT_NE(text.find("mostly free: buffer 0x17 +"), std::string::npos) << text;
  EXPECT_EQ(text.find("free buffer 0x17"), std::string::npos) << "neither one nor the other";
}

TEST(Screen, TheTimelineTellsProgramsOfOneNameApart) {
  Frame frame = example_frame();
  frame.programs->at(1).name = frame.programs->at(0).name = "BinaryNgDeviceOperation";
  ScreenState state;
  state.view = View::kPrograms;
  state.timeline = true;
  const History history;
  const auto text = [&](int columns) {
    return view::plain_text(draw_screen({frame, history, state}, columns, 40).grid);
  };
  EXPECT_NE(text(120).find("BinaryNgDeviceOperation 0x1 "), std::string::npos) << text(120);
  EXPECT_NE(text(120).find("BinaryNgDeviceOperation 0x2 "), std::string::npos);
  EXPECT_NE(text(60).find("BinaryNgDev… 0x2 "), std::string::npos) << text(60);
  EXPECT_EQ(text(120).find("layernorm 0x"), std::string::npos);
}

TEST(Screen, StaleDataIsMarkedAndAPauseIsNot) {
  const Frame frame = example_frame();
  const History history;
  ScreenState state;
  const auto header = [&] {
    const std::string text = view::plain_text(draw_screen({frame, history, state}, 120, 40).grid);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(header().find("stale"), std::string::npos);
  state.data_age_s = 3.5;
  EXPECT_NE(header().find("stale, 3 s old"), std::string::npos);
  state.paused = true;
  EXPECT_EQ(header().find("stale"), std::string::npos);
  EXPECT_NE(header().find("paused"), std::string::npos);
}

// ---- the chip
// ------------------------------------------------------------------------------------

TEST(Chip, StandsByTheNetworkWhereEveryPlaceIsKnown) {
  std::vector<ledger::CoreView> cores(3);
  const std::array<std::pair<std::uint8_t, std::uint8_t>, 3> places = {{{1, 1}, {9, 1}, {1, 11}}};
  for (std::size_t i = 0; i < 3; ++i) {
    cores[i].noc_x = places[i].first;
    cores[i].noc_y = places[i].second;
  }
  Chip chip = place_cores(cores);
  EXPECT_TRUE(chip.by_network);
  EXPECT_EQ(chip.columns, 2);  // empty rows and columns are left out
  EXPECT_EQ(chip.rows, 2);
  EXPECT_EQ(chip.at(1, 0)->core, &cores[1]);
  EXPECT_EQ(chip.at(1, 1), nullptr);
  cores[2].noc_x = 255;
  EXPECT_FALSE(place_cores(cores).by_network);
}

TEST(Chip, AClashIsMarked) {
  ledger::CoreView core;
  core.l1_bytes = 1000;
  core.headroom = -5;
  const CoreReading reading = read_core(core, CoreFigure::kHeadroom, 1);
  EXPECT_TRUE(reading.clash);
  EXPECT_EQ(reading.text, "!!");
  core.headroom = {};
  EXPECT_EQ(read_core(core, CoreFigure::kHeadroom, 1).text, "?");
}

// ---- time
// ------------------------------------------------------------------------------------------

TEST(History, AColumnIsAStretchOfTimeHoweverOftenItIsRead) {
  Series often, rarely;
  for (std::uint64_t ms = 0; ms <= 120'000; ms += 100) {
    const std::uint64_t value = ms < 60'000 ? 10 : 20;
    often.add(kExampleTime + ms * 1'000'000, value);
    if (ms % 5000 == 0) rarely.add(kExampleTime + ms * 1'000'000, value);
  }
  const auto a = often.columns(12), b = rarely.columns(12);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.front(), 10u);
  EXPECT_EQ(a.back(), 20u);
  EXPECT_EQ(std::count(a.begin(), a.end(), std::optional<std::uint64_t>(20)), 7);
}

TEST(History, BeforeTheFirstValueNothingIsKnown) {
  Series series;
  EXPECT_FALSE(series.columns(4).back());
  series.add(kExampleTime, 5);
  const auto columns = series.columns(4);
  EXPECT_FALSE(columns[2]);
  EXPECT_EQ(columns[3], 5u);
}

TEST(History, RatesAreOverTheLastSeconds) {
  Rate rate;
  for (std::uint64_t i = 0; i <= 50; ++i) {
    rate.add(kExampleTime + i * 100'000'000, 1000 + i * 20);
  }
  EXPECT_NEAR(rate.per_second(), 200, 1);
  rate.add(kExampleTime + 6'000'000'000, 5);  // another process took the name
  EXPECT_EQ(rate.per_second(), 0);
}

TEST(History, WhoLeavesIsForgotten) {
  Frame frame = example_frame();
  History history = example_history(frame);
  const ProcessId id = process_id(frame.snapshot.processes[0]);
  EXPECT_NE(history.process(id), nullptr);
  frame.snapshot.processes.erase(frame.snapshot.processes.begin());
  frame.snapshot.time += 1;
  history.add(frame.snapshot);
  EXPECT_EQ(history.process(id), nullptr);
}

// ---- the source
// ------------------------------------------------------------------------------------

std::shared_ptr<const Frame> wait_for_frame(Source& source) {
  for (int i = 0; i < 2000; ++i) {
    if (auto frame = source.take()) return frame;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return nullptr;
}

TEST(Source, ARequestIsAnsweredAtOnceHoweverLongTheInterval) {
  Source source([](const Request& request, Frame& frame) {
    frame.snapshot.time = request.device.value_or(1);
  });
  source.want({}, 60, false);
  ASSERT_NE(wait_for_frame(source), nullptr);
  Request request;
  request.device = 77;
  source.want(request, 60, false);
  std::shared_ptr<const Frame> frame = wait_for_frame(source);
  while (frame && frame->snapshot.time != 77) frame = wait_for_frame(source);
  ASSERT_NE(frame, nullptr);
}

TEST(Source, AReadThatHangsHoldsNobodyUp) {
  struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;
  };
  const auto gate = std::make_shared<Gate>();
  {
    Source source([gate](const Request&, Frame&) {
      std::unique_lock lock(gate->mutex);
      gate->opened.wait(lock, [&] { return gate->open; });
    });
    source.want({}, 0.1, false);
    EXPECT_EQ(source.take(), nullptr);
  }  // ends although the read still hangs
  const std::scoped_lock lock(gate->mutex);
  gate->open = true;
  gate->opened.notify_all();
}

}  // namespace
}  // namespace ttmem::top
