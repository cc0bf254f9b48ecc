// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A run, told to people: what there was over time, who held it at the peak, how the L1 of the
// tightest core was filled, which programs ran, what failed and what would have helped. Gathered
// once, from a recording or from the present, and written as one file of HTML, as text or as
// Markdown: all three say the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "ledger/snapshot.hpp"
#include "view/explain_text.hpp"

namespace ttmem::report {

// What one line, or one stack, held.
struct Held {
  std::vector<std::string> path;  // a line has one step; empty = not known
  std::uint64_t bytes = 0;
  std::uint64_t buffers = 0;  // 0 = not known
};

struct HeldList {
  std::vector<Held> rows;                     // the largest first
  std::uint64_t others = 0, other_bytes = 0;  // that a report has no room for
};

// A space of all devices together, when it was fullest.
struct SpacePeak {
  ledger::Space space = ledger::Space::kDram;
  ledger::TimeNs time = 0;  // 0: each process had its own
  std::uint64_t bytes = 0;  // what the rows of either list and the others add up to
  ledger::Figure capacity;
  HeldList lines, stacks;
};

// The L1 of the core with the least headroom, when it was least; where no headroom is known, when
// L1 was fullest.
struct TightestCore {
  std::uint32_t device = 0;
  std::uint64_t unique_id = 0;
  ledger::TimeNs time = 0;
  std::vector<ledger::CoreView> cores;        // of the device
  std::optional<ledger::CoreView> core;       // with its map
  std::vector<ledger::HoldingView> holdings;  // in it
};

struct Report {
  std::string of;  // the file, or what of the present
  bool recorded = false;
  bool ended = true;  // false: the recorder was killed, or still records
  std::uint64_t missed = 0;
  std::vector<std::string> problems;        // of the recording, in words
  collect::Outline outline;                 // of the present: as far as the rings remember
  ledger::Snapshot end;                     // all processes, and the devices as they are left
  std::vector<ledger::DeviceView> devices;  // at the peak of all devices together
  std::uint64_t other_devices = 0, other_processes = 0;  // that there is no room for
  std::vector<SpacePeak> peaks;
  std::optional<TightestCore> l1;
  std::vector<ledger::ProgramView> programs;  // the most L1 first; the first ones with their series
  std::uint64_t other_programs = 0;
  std::vector<view::ExplainedFailure> failures;  // by time
  std::uint64_t other_failures = 0;              // that nobody kept, or that there is no room for
  std::vector<std::string> summary;              // sentences
};

struct Question {
  std::string file;                                // "": the present
  std::optional<ledger::ProcessSelector> process;  // of the present
  bool redact = false;
  std::function<void(double)> progress = nullptr;  // from 0 to 1, now and then
};

// An error is in words for the user.
Result<Report> gather(const Question& question);

// The last step of a line or a stack; "(not known)".
std::string innermost(const Held& held);

std::vector<std::string> summarize(const Report& report);

std::string html(const Report& report);
std::string text(const Report& report, const view::Style& style);
std::string markdown(const Report& report);

}  // namespace ttmem::report
