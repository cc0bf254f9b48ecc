// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/reading_options.hpp"
#include "collect/collector.hpp"

namespace ttmem::cli {
namespace {

using ledger::HoldingView;

// ---- the orders --------------------------------------------------------------------------------

// What it takes on a device: bytes of a buffer, footprint of a kernel, program L1 of a range.
std::uint64_t size_of(const HoldingView& holding) {
  for (const ledger::Figure& figure :
       {holding.taken, holding.footprint, holding.occupied, holding.requested}) {
    if (figure) return *figure;
  }
  return 0;
}

// Equal ones keep their order.
template <typename Key>
void sort_by(std::vector<HoldingView>& holdings, Key key) {
  std::vector<std::size_t> order(holdings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto left = key(holdings[a]);
    const auto right = key(holdings[b]);
    return left != right ? left < right : a < b;
  });
  std::vector<HoldingView> sorted;
  sorted.reserve(order.size());
  for (const std::size_t index : order) sorted.push_back(std::move(holdings[index]));
  holdings = std::move(sorted);
}

// "size": largest first; "age": oldest first; "name", "pid", "device": ascending; "": as they come.
void sort_holdings(std::vector<HoldingView>& holdings, const std::string& key) {
  if (key == "size") sort_by(holdings, [](const auto& each) { return ~size_of(each); });
  if (key == "age") sort_by(holdings, [](const auto& each) { return each.since; });
  if (key == "name") sort_by(holdings, [](const auto& each) { return each.name; });
  if (key == "pid") {
    sort_by(holdings, [](const auto& each) {
      return std::tuple(each.process->pid, each.process->start, each.process->segment);
    });
  }
  if (key == "device") sort_by(holdings, [](const auto& each) { return each.devices; });
}

// ---- the command -------------------------------------------------------------------------------

struct DumpOptions {
  view::Selection selection;
  Past past;
  FormatChoice format;
  std::string sort;
  std::uint32_t failure = 0;
};

int print_holdings(const collect::Collector& collector, const DumpOptions& options) {
  std::vector<HoldingView> chosen;
  collector.holdings([&](const HoldingView& holding) {
    if (options.selection.has(holding)) chosen.push_back(holding);
  });
  sort_holdings(chosen, options.sort);
  Output output;
  options.format.print(holdings_formats(), output, collector.snapshot(), chosen);
  return output.finish();
}

// The failure of that number; with several processes --pid decides.
std::vector<view::ProcessFailure> failures(const collect::Collector& collector,
                                           std::uint32_t number) {
  std::vector<view::ProcessFailure> found;
  for (const auto& process : collector.snapshot().processes) {
    const ledger::ProcessName& name = process;
    for (const auto& failure : process.failures) {
      if (failure.number != number) continue;
      auto picture = collector.failure_picture(process.key, number);
      found.push_back({name, failure, {}});
      if (picture) found.back().picture = std::move(*picture);
    }
  }
  return found;
}

int print_failure(const collect::Collector& collector, const DumpOptions& options) {
  const auto found = failures(collector, options.failure);
  if (found.empty()) {
    return complain(
        fmt::format("no process has kept a failure {}; `ttmem status` lists those there are",
                    options.failure),
        kNotFound);
  }
  Output output;
  options.format.print(failures_formats(), output, collector.snapshot(), found);
  return output.finish();
}

int dump(DumpOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  std::optional<collect::Collector> collector;
  if (const int code = open_selected(collecting, options.past, options.selection, collector);
      code != kOk) {
    return code;
  }
  return options.failure > 0 ? print_failure(*collector, options)
                             : print_holdings(*collector, options);
}

constexpr const char* kDumpExamples =
    "Examples:\n"
    "  ttmem dump                         everything that living processes hold\n"
    "  ttmem dump --kind buffer --sort size | head\n"
    "  ttmem dump --kind kernel           id, type, name, size, cores, footprint, dispatches\n"
    "  ttmem dump --pid 4711              of one process; if it died, what it held then\n"
    "  ttmem dump --pid 4711 --failure 1  what was held when an allocation failed";

}  // namespace

void register_dump(CLI::App& app, Action& action) {
  auto options = std::make_shared<DumpOptions>();
  CLI::App* command = app.add_subcommand("dump", "List everything that is held, one per line");
  command->footer(kDumpExamples);
  add_selection(*command, "kind", "Only these kinds: buffer, program, kernel, range, trace",
                options->selection);
  command->add_option("--sort", options->sort, "Sort by size, age, name, pid or device")
      ->type_name("KEY")
      ->check(CLI::IsMember({"size", "age", "name", "pid", "device"}));
  add_selection(*command, "device", "Only what is on this device, by id or unique id",
                options->selection);
  add_selection(*command, "pid", "Only what this process holds, or held when it died; or PID/START",
                options->selection);
  add_past(*command, options->past);
  command
      ->add_option("--failure", options->failure,
                   "What was held when allocation failure N happened")
      ->type_name("N")
      ->check(positive_number);
  options->format.offer(*command, holdings_formats(), "Print text or json");
  command->callback([options, &action] {
    if (options->failure > 0) options->format.require("--failure", failures_formats());
    action = [options] { return dump(*options); };
  });
}

}  // namespace ttmem::cli
