// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem top`: the loop between the source, the keys and the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collect/collector.hpp"
#include "top/history.hpp"
#include "top/source.hpp"
#include "top/state.hpp"
#include "view/ansi.hpp"

namespace ttmem::top {

// A recording instead of the present, from a moment on.
struct Recorded {
  std::string file;
  ledger::TimeNs at = 0;
};

// Many hosts instead of this one.
struct Fleet {
  fleet::Engine engine;
  fleet::EngineQuestion question;
};

struct RunOptions {
  collect::Options collecting;
  std::optional<Recorded> recorded;
  std::optional<Fleet> fleet;
  double interval_s = 1.0;
  view::Ansi ansi;
  View view = View::kOverview;
  Complete complete;             // may be empty
  std::vector<PastMoment> past;  // what somebody remembers of the time before
};

// All processes or one, and of the host what no segment tells: devices that nobody tracks, and who
// has them open. That is looked at every three seconds; the sensors, which come with it, are not
// shown. A process that is quiet is looked at three times a second at most.
collect::Options what_to_read(const std::optional<ledger::ProcessSelector>& process);

struct Finished {};

// Until `q`, Ctrl-C or a signal. An error says what to do.
Result<Finished> run(const RunOptions& options);

// One picture of this size as text: with looks if the ansi has colours, else characters alone. The
// source is read twice, `interval_s` apart at most, so that rates are known.
std::string picture(const RunOptions& options, int columns, int rows);

}  // namespace ttmem::top
