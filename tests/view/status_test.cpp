// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "view/seeds_snapshot.hpp"
#include "view/status_sections.hpp"
#include "view/text.hpp"

namespace ttmem::view {
namespace {

using test::kNow;
using test::seeds_snapshot;
using testing::HasSubstr;
using testing::Not;

TEST(Status, SeedsTree) { EXPECT_GOLDEN("seeds_status.txt", status_text(seeds_snapshot(), {})); }

TEST(Status, ColoursAddNothingToTheWords) {
  const Ansi ansi{Palette(Theme::kLight), ColourDepth::k256};
  std::string text = status_text(seeds_snapshot(), {ansi});
  EXPECT_THAT(text, HasSubstr(ansi.sequence({Ink::kBad})));
  for (std::size_t at; (at = text.find('\x1b')) != std::string::npos;) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  EXPECT_EQ(text, status_text(seeds_snapshot(), {}));
}

TEST(Status, WhatIsNotKnownIsAQuestionMark) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.devices[0].figures = {};
  EXPECT_THAT(status_text(snapshot, {}), HasSubstr("? taken of ?"));
}

TEST(Status, RequestedBytesAreCalledThat) {
  ledger::Snapshot snapshot = seeds_snapshot();
  auto& dram = snapshot.devices[0].figures.space(ledger::Space::kDram);
  dram = {};
  dram.requested = 4096;
  EXPECT_THAT(status_text(snapshot, {}), HasSubstr("4.0 KiB requested of ?"));
}

// A stock TT-Metal publishes sums of requested bytes: neither how many buffers, nor where they are.
TEST(Status, WhatWasNotCountedIsNotZero) {
  ledger::Snapshot snapshot = seeds_snapshot();
  ledger::DeviceFigures& figures = snapshot.devices[0].figures;
  figures = {};
  figures.space(ledger::Space::kDram).requested = 4 << 20;
  figures.space(ledger::Space::kL1).requested = 1 << 20;
  const std::string text = status_text(snapshot, {});
  EXPECT_THAT(text, HasSubstr("4.0 MiB requested of ?   requested 4.0 MiB in ? buffers\n"));
  EXPECT_THAT(text, HasSubstr("1.0 MiB  requested  ? buffers, requested 1.0 MiB\n"));
  EXPECT_THAT(text, HasSubstr("nobody told the addresses"));
}

TEST(Status, AClashIsCalledAClash) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.devices[0].figures.headroom.min = -3'488;
  EXPECT_THAT(status_text(snapshot, {}),
              HasSubstr("Clash       -3.4 KiB at core 0,0"
                        "   ttmem status --device 0 --core 0,0 says who\n"));
}

TEST(Status, HeadroomIsAlsoToldForWhateverMayBeLaunchedNext) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.devices[0].figures.headroom.min_reserved = -2'048;
  EXPECT_THAT(status_text(snapshot, {}),
              HasSubstr("Headroom     1.3 MiB at core 0,0, -2.0 KiB against any live program\n"));
  snapshot.devices[0].figures.headroom.min_reserved = 1'351'487;  // the same, as it is printed
  EXPECT_THAT(status_text(snapshot, {}), HasSubstr("Headroom     1.3 MiB at core 0,0\n"));
}

TEST(Status, WhatIsNotThereIsNotTold) {
  ledger::Snapshot snapshot = seeds_snapshot();
  ledger::DeviceFigures& figures = snapshot.devices[0].figures;
  figures.program_l1.peak = 4'423'680;
  figures.rings[0].evictions = 3;
  figures.rings[0].reloads = 1;
  figures.kernels.reloads = 1;
  figures.kernels.registered = 5;
  figures.kernels.in_dram = 65'536;
  const std::string text = status_text(snapshot, {});
  for (const char* note :
       {"in 1 program, peak 4.2 MiB\n", "14.0 KiB, 3 evictions, 1 reload\n",
        "cache hits 1, reloads 1\n", "in DRAM 64.0 KiB; 5 programs registered\n"}) {
    EXPECT_THAT(text, HasSubstr(note));
    EXPECT_THAT(status_text(seeds_snapshot(), {}), Not(HasSubstr(note)));
  }
}

TEST(Status, FailuresAnomaliesAndUnreadableSegmentsAreSaid) {
  ledger::Snapshot snapshot = seeds_snapshot();
  ledger::FailureView failure;
  failure.number = 2;
  failure.kind = "out_of_memory";
  failure.time = kNow - 5 * test::kSecondNs;
  failure.message = "TT_FATAL @ bank.cpp:5: false\ninfo:\nOut of Memory: 64880640 B\nbacktrace";
  snapshot.processes[0].failures = {failure};
  snapshot.processes[0].tracking.anomalies = {2, 0, 1};
  snapshot.processes[0].tracking.dangling = 3;
  snapshot.processes[0].tracking.hooks_missing = {"Buffer::allocate"};
  snapshot.unreadable = {"/dev/shm/ttmem-7/ttmem-1: permission denied"};
  const std::string text = status_text(snapshot, {});
  EXPECT_THAT(text, HasSubstr("out_of_memory 5 s ago: Out of Memory: 64880640 B\n"));
  EXPECT_THAT(text, HasSubstr("ttmem dump --pid 4711 --failure 2"));
  EXPECT_THAT(text, HasSubstr("unknown_free 2, unknown_allocator 1"));
  EXPECT_THAT(
      text, HasSubstr("3 records of a program, device or core set that is not there; in no total"));
  EXPECT_THAT(text, HasSubstr("hooks that are not bound: Buffer::allocate"));
  EXPECT_THAT(text, HasSubstr("not read: /dev/shm/ttmem-7/ttmem-1: permission denied"));
}

TEST(Status, ManyThatCannotBeReadAreCounted) {
  ledger::Snapshot snapshot = seeds_snapshot();
  for (int i = 0; i < 50; ++i) snapshot.unreadable.push_back(fmt::format("/dev/shm/{}: no", i));
  const std::string text = status_text(snapshot, {});
  EXPECT_THAT(text, HasSubstr("not read: /dev/shm/7: no\n  and 42 more not read: --json lists"));
  EXPECT_THAT(text, Not(HasSubstr("/dev/shm/8: no")));
}

TEST(Status, ManyFailuresSayWhereTheyWereAndHintOnce) {
  ledger::Snapshot snapshot = seeds_snapshot();
  ledger::FailureView failure;
  failure.kind = "out_of_memory";
  failure.operation = "ttnn.empty";
  failure.line = "model.py:3 f";
  failure.message = "Out of Memory";
  for (failure.number = 1; failure.number <= 3; ++failure.number) {
    snapshot.processes[0].failures.push_back(failure);
  }
  const std::string text = status_text(snapshot, {});
  EXPECT_THAT(text, HasSubstr(" in ttnn.empty, model.py:3 f: Out of Memory\n"));
  EXPECT_THAT(text, HasSubstr("ttmem explain --pid 4711 3 says why"));
  EXPECT_EQ(text.find("ttmem explain --pid 4711 1"), std::string::npos);
  snapshot.processes[0].hide_words();
  const std::string hidden = status_text(snapshot, {});
  EXPECT_THAT(hidden, HasSubstr("; why is told to "));
  EXPECT_EQ(hidden.find("ttmem explain --pid 4711"), std::string::npos);
}

TEST(Status, NamesOfStrangersAreEscaped) {
  ledger::Snapshot snapshot = seeds_snapshot();
  for (auto& process : snapshot.processes) process.name = "\x1b[2Jevil\n";
  const std::string text = status_text(snapshot, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("\\x1b[2Jevil\\x0a"));
}

TEST(Status, TheLeastTrustedProcessSpeaksForItsDevice) {
  ledger::Snapshot snapshot = seeds_snapshot();
  const std::uint64_t chip = snapshot.devices[0].unique_id;
  EXPECT_EQ(trust(snapshot, chip).text, "not audited");
  snapshot.processes[0].tracking.exact = true;
  EXPECT_EQ(trust(snapshot, chip).text, "exact");
  snapshot.processes[0].tracking.unrecorded = 1;
  EXPECT_EQ(trust(snapshot, chip).text, "incomplete");
  snapshot.processes[0].tracking.exact = false;
  snapshot.processes[0].tracking.difference_bytes = -2048;
  EXPECT_EQ(trust(snapshot, chip).text, "differs by -2.0 KiB");
  snapshot.processes[0].alive = false;
  EXPECT_EQ(trust(snapshot, chip).text, "nobody has it open");
}

TEST(Status, ADeviceThatNobodyUsesIsShort) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.processes.clear();
  snapshot.devices[0].processes = 0;
  snapshot.devices[0].figures = {};
  EXPECT_THAT(status_text(snapshot, {}), HasSubstr("nobody has it open\n  Nothing is held.\n"));
  snapshot.devices[0].mock = false;
  snapshot.devices[0].board = "p150a";
  EXPECT_THAT(status_text(snapshot, {}),
              HasSubstr("  Nothing is held of DRAM 32.0 GiB, L1 180.0 MiB (nominal).\n"));
}

TEST(Status, AMeshIsOneRow) {
  ledger::Snapshot snapshot = seeds_snapshot();
  auto& devices = snapshot.processes[0].devices;
  for (std::uint32_t id = 1; id < 8; ++id) {
    devices.push_back(devices[0]);
    devices.back().id = id;
  }
  EXPECT_THAT(process_table(snapshot, {}), HasSubstr("0-7 each"));
  EXPECT_EQ(id_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(Status, EmptyStateSaysHowToBegin) {
  EXPECT_TRUE(is_empty({}));
  EXPECT_FALSE(is_empty(seeds_snapshot()));
  EXPECT_THAT(empty_text(), HasSubstr("ttmem run"));
}

}  // namespace
}  // namespace ttmem::view
