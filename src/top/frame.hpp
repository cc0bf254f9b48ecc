// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one picture of the screen is drawn from: the snapshot, and the details that the view on the
// screen asked for. Plain data; the reading thread fills it, the drawing thread looks at it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "explain/leaks.hpp"
#include "fleet/fleet.hpp"
#include "ledger/event.hpp"
#include "ledger/snapshot.hpp"
#include "view/origin_tree.hpp"

namespace ttmem::top {

// Names a process for as long as anybody reads it, also in another collector.
using ProcessId = std::uint64_t;
ProcessId process_id(const ledger::ProcessName& process);

// Now, or when the process ended: what its ages are counted to.
ledger::TimeNs last_moment(const ledger::ProcessView& process, ledger::TimeNs now);

// Names a job of this host or of a fleet.
struct JobId {
  std::string key, user;
  friend bool operator==(const JobId&, const JobId&) = default;
};

// What the view on the screen needs beside the snapshot.
struct Request {
  std::optional<std::uint64_t> device;  // unique id: its cores, kernels and DRAM
  std::optional<ProcessId> process;     // its holdings
  std::uint32_t failure = 0;            // of that process: its picture; 0 = none
  bool tree = false;                    // of that process: its holdings by stack
  bool programs = false;
  bool launches = false;  // of the programs: which ran when
  bool events = false;
  std::optional<std::string> host;   // of a fleet: its devices; "": of the first one
  std::optional<JobId> job;          // of a fleet: what it has on each host
  std::optional<ledger::TimeNs> at;  // the moment of a recording; empty: the one that it stands at
  friend bool operator==(const Request&, const Request&) = default;
};

// Addresses of one bank that are taken.
struct Interval {
  std::uint64_t begin = 0, end = 0;
};

struct DeviceDetails {
  std::uint64_t unique_id = 0;
  std::vector<ledger::CoreView> cores;       // as all processes fill them, with maps
  std::vector<ledger::HoldingView> kernels;  // largest footprint first
  std::vector<Interval> dram;                // ascending, merged
  std::vector<ledger::RingView> rings;
};

// Holdings of one process that are alike: same kind, same operation, same line.
struct HoldingGroup {
  std::string what;       // "DRAM buffer", "kernel", "circular buffer", ...
  std::string operation;  // or the name of the program
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;        // on all its devices
  std::uint64_t fresh_bytes = 0;  // of them, what came in the (or its) last minute
  ledger::TimeNs oldest = 0, youngest = 0;
  std::string line;  // "FILE:LINE FUNCTION"; "" = not known
};
inline constexpr std::uint64_t kFreshNs = 60'000'000'000;

struct TreeRow {
  view::OriginStep step;
  std::string source;  // the text of its line; "" = not known
};
inline constexpr std::size_t kTreeRowsKept = 2000;

struct ProcessDetails {
  ProcessId process = 0;
  std::vector<HoldingGroup> groups;  // largest first
  std::vector<TreeRow> tree;
  std::uint32_t failure = 0;
  std::vector<ledger::HoldingView> picture;  // of that failure
  std::string picture_problem;               // why there is none
};

// An event as a line of text.
struct EventLine {
  ledger::EventKind kind = ledger::EventKind::kGap;
  std::string text;
};
inline constexpr std::size_t kEventsKept = 2000;
inline constexpr std::size_t kKernelsKept = 500;

// What a device, or a process on all its devices, held at a moment.
struct PastMoment {
  std::uint64_t unique_id = 0;       // of the device
  std::optional<ProcessId> process;  // empty: it is of the device
  ledger::TimeNs time = 0;
  std::uint64_t dram = 0, l1 = 0;
};

// Where a recording stands, and what is in it.
struct RecordingView {
  ledger::TimeNs first = 0, last = 0, at = 0;
  std::shared_ptr<const collect::Outline> outline;        // null: not known yet
  std::shared_ptr<const std::vector<PastMoment>> charts;  // of all of it, by time; null likewise
};

// Many hosts, as an engine told them; and what was asked for of one host and one job.
struct FleetDetails {
  fleet::Fleet fleet;
  std::string problem;  // why it was not told anew; "" = it was
  std::string host;
  std::vector<fleet::DeviceRow> devices;  // of that host
  std::optional<JobId> job;
  std::vector<fleet::JobPart> parts;  // of that job
};

struct Frame {
  ledger::Snapshot snapshot;
  std::optional<FleetDetails> fleet;       // empty: it is this host
  std::optional<RecordingView> recording;  // empty: it is the present
  // Which state of the host it is: two frames of one number differ in their time only. 0: unknown.
  std::uint64_t state = 0;
  std::optional<DeviceDetails> device;
  std::optional<ProcessDetails> process;
  std::optional<std::vector<ledger::ProgramView>> programs;
  std::vector<ledger::ProgramView> ended_programs;       // that the timeline still shows
  std::vector<std::shared_ptr<const EventLine>> events;  // oldest first
  explain::LeakReport leaks;                             // what grows; nothing: not followed
};

// Fills in what is asked for, from the state that the collector has.
void take_details(const collect::Collector& collector, const Request& request, Frame& frame);

}  // namespace ttmem::top
