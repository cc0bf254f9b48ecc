// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/holding_order.hpp"
#include "cli/output.hpp"
#include "cli/selection.hpp"
#include "collect/collector.hpp"
#include "view/dump_text.hpp"
#include "view/json.hpp"
#include "view/status_text.hpp"

namespace ttmem::cli {
namespace {

using ledger::HoldingView;

struct DumpOptions {
  Selection selection;
  std::vector<std::string> kinds;
  std::string sort;
  std::uint32_t failure = 0;
  bool json = false;
};

// What the living hold; of those that ended only when one is named.
std::vector<HoldingView> holdings(const collect::Collector& collector, const DumpOptions& options) {
  std::vector<HoldingView> chosen;
  collector.holdings([&](const HoldingView& holding) {
    if (!holding.process->alive && !options.selection.pid) return;
    if (!is_of_kind(holding, options.kinds)) return;
    if (options.selection.device && !is_on_device(holding, *options.selection.device)) return;
    chosen.push_back(holding);
  });
  sort_holdings(chosen, options.sort);
  return chosen;
}

int print_holdings(const collect::Collector& collector, const DumpOptions& options) {
  Output output;
  const ledger::Snapshot& snapshot = collector.snapshot();
  const std::vector<HoldingView> chosen = holdings(collector, options);
  if (options.json) {
    view::holdings_json(snapshot, chosen, [&](std::string_view text) { output.write(text); });
  } else if (!chosen.empty()) {
    output.write(view::dump_text(chosen, snapshot.time, output.style()));
  } else if (view::is_empty(snapshot)) {
    output.write(view::empty_text());
  } else {
    output.write("Nothing is held.\n");
  }
  return output.finish();
}

// The failure of that number; with several processes --pid decides.
std::vector<view::ProcessFailure> failures(const collect::Collector& collector,
                                           std::uint32_t number) {
  std::vector<view::ProcessFailure> found;
  for (const auto& process : collector.snapshot().processes) {
    for (const auto& failure : process.failures) {
      if (failure.number != number) continue;
      auto picture = collector.failure_picture(process.key, number);
      found.push_back({process, failure, {}});
      if (picture) found.back().picture = std::move(*picture);
    }
  }
  return found;
}

int print_failure(const collect::Collector& collector, const DumpOptions& options) {
  const auto found = failures(collector, options.failure);
  if (found.empty()) {
    fmt::print(stderr,
               "ttmem: no process has kept a failure {}; `ttmem status` lists those there are\n",
               options.failure);
    return kNotFound;
  }
  Output output;
  const ledger::Snapshot& snapshot = collector.snapshot();
  if (options.json) {
    output.write(view::failures_json(snapshot, found, view::JsonLayout::kPretty) + "\n");
    return output.finish();
  }
  for (const auto& failure : found) {
    output.write(view::failure_text(failure, snapshot.time, output.style()));
  }
  return output.finish();
}

int dump(const DumpOptions& options) {
  collect::Options collecting;
  collecting.pid = options.selection.pid;
  collect::Collector collector(collecting);
  collector.refresh();
  if (const std::string why = unusable_directory(collector.directories()); !why.empty()) {
    fmt::print(stderr, "ttmem: {}\n", why);
    return kFailed;
  }
  if (const std::string why = missing(collector.snapshot(), options.selection); !why.empty()) {
    fmt::print(stderr, "ttmem: {}\n", why);
    return kNotFound;
  }
  return options.failure > 0 ? print_failure(collector, options)
                             : print_holdings(collector, options);
}

constexpr const char* kDumpExamples =
    "Examples:\n"
    "  ttmem dump                         everything that living processes hold\n"
    "  ttmem dump --kind buffer --sort size | head\n"
    "  ttmem dump --kind kernel           id, type, name, size, cores, footprint, dispatches\n"
    "  ttmem dump --pid 4711              also what a process held when it died\n"
    "  ttmem dump --pid 4711 --failure 1  what was held when an allocation failed";

}  // namespace

void register_dump(CLI::App& app, Action& action) {
  auto options = std::make_shared<DumpOptions>();
  CLI::App* command = app.add_subcommand("dump", "Every live holding, one a line");
  command->footer(kDumpExamples);
  command->add_option("--kind", options->kinds, "Only these: buffer, program, kernel, range, trace")
      ->type_name("KIND")
      ->delimiter(',')
      ->check(CLI::IsMember({"buffer", "program", "kernel", "range", "trace"}));
  command->add_option("--sort", options->sort, "By size, age, name, pid or device")
      ->type_name("KEY")
      ->check(CLI::IsMember({"size", "age", "name", "pid", "device"}));
  command->add_option("--device", options->selection.device, "Only on this device")
      ->type_name("ID");
  command->add_option("--pid", options->selection.pid, "Only of this process, alive or dead")
      ->type_name("PID");
  command->add_option("--failure", options->failure, "The picture frozen at this failure")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "As a document of docs/json.md");
  command->callback([options, &action] { action = [options] { return dump(*options); }; });
}

}  // namespace ttmem::cli
