// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What commands print, and in which formats. The tables of formats.cpp alone know that: a new
// format is a function in a file of its own, and a row there.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/assert.hpp"
#include "cli/output.hpp"
#include "ledger/event.hpp"
#include "ledger/jobs.hpp"
#include "ledger/snapshot.hpp"
#include "view/comparison.hpp"
#include "view/explain_text.hpp"
#include "view/fit_text.hpp"
#include "view/json.hpp"
#include "view/leaks_text.hpp"
#include "view/live_text.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace ttmem::cli {

// The name after --format, and what prints these things so.
template <typename... What>
struct Format {
  std::string_view name;
  void (*print)(Output& output, const What&... what);
};

// All formats of something; the first is the usual one.
template <typename... What>
using Formats = std::span<const Format<What...>>;

struct EventLine {
  const ledger::EventView* event = nullptr;
  const ledger::ProcessView* process = nullptr;  // null: not known any more
  bool detail = false;                           // also what the original's client printed
};

Formats<ledger::Snapshot> status_formats();
Formats<ledger::Snapshot, std::vector<view::DeviceCores>> cores_formats();
Formats<ledger::Snapshot, view::DeviceCores> core_map_formats();
Formats<ledger::Snapshot, std::vector<ledger::ProgramView>> programs_formats();
Formats<ledger::Snapshot, view::Origins> origins_formats();
Formats<ledger::Snapshot, std::vector<ledger::JobView>> jobs_formats();
Formats<ledger::Snapshot, std::vector<ledger::HoldingView>> holdings_formats();
Formats<ledger::Snapshot, std::vector<view::ProcessFailure>> failures_formats();
Formats<ledger::Snapshot, view::ExplainedFailure> explain_formats();
Formats<ledger::Snapshot, view::ExplainedDevice> live_formats();
Formats<ledger::Snapshot, view::FitAnswer> fit_formats();
Formats<ledger::Snapshot, explain::LeakReport> leaks_formats();
Formats<view::Comparison> diff_formats();
Formats<EventLine> event_formats();

// What a user chose with --format, or with --json.
class FormatChoice {
 public:
  // Adds both options to a command that prints in these formats.
  template <typename... What>
  void offer(CLI::App& command, Formats<What...> formats, const std::string& help) {
    offer(command, names(formats), help);
  }
  // Wrong usage, unless what `option` asks for can be printed as it was chosen.
  template <typename... What>
  void require(const std::string& option, Formats<What...> formats) const {
    require(option, names(formats));
  }

  bool is(std::string_view name) const { return name_ == name; }

  template <typename... What>
  void print(Formats<What...> formats, Output& output,
             const std::type_identity_t<What>&... what) const {
    TTMEM_CHECK(!formats.empty());
    const auto chosen = std::ranges::find(formats, std::string_view(name_), &Format<What...>::name);
    (chosen == formats.end() ? formats.begin() : chosen)->print(output, what...);
  }

 private:
  template <typename... What>
  static std::vector<std::string> names(Formats<What...> formats) {
    std::vector<std::string> all;
    for (const Format<What...>& each : formats) all.emplace_back(each.name);
    return all;
  }
  void offer(CLI::App& command, const std::vector<std::string>& names, const std::string& help);
  void require(const std::string& option, const std::vector<std::string>& names) const;

  std::string name_;
};

}  // namespace ttmem::cli
