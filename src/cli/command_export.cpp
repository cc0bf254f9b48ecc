// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/reading_options.hpp"
#include "collect/collector.hpp"
#include "export/formats.hpp"
#include "recording/file_writer.hpp"

namespace ttmem::cli {
namespace {

struct ExportOptions {
  view::Selection selection;
  Past past;
  std::string format, output;
  std::uint32_t failure = 0;
  bool force = false;
};

// What is held, or was at a failure. An error is in words for the user.
Result<std::vector<ledger::HoldingView>> holdings_of(const collect::Collector& collector,
                                                     const ExportOptions& options) {
  std::vector<ledger::HoldingView> chosen;
  if (options.failure == 0) {
    collector.holdings([&](const ledger::HoldingView& holding) {
      if (options.selection.has(holding)) chosen.push_back(holding);
    });
    return chosen;
  }
  for (const auto& process : collector.snapshot().processes) {
    if (!options.selection.has(process)) continue;
    for (const auto& failure : process.failures) {
      if (failure.number == options.failure) {
        return collector.failure_picture(process.key, failure.number);
      }
    }
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("no process has kept a failure {}; `ttmem status` lists those there are",
                           options.failure)};
}

// Into a file of its own that only this user may read.
int write_file(const std::string& path, bool replace, const std::string& bytes) {
  const auto file = recording::create_private_file(path, replace);
  if (!file) return complain(file.error().message, kFailed);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::write(file->get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      return complain(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)),
                      kFailed);
    }
    done += static_cast<std::size_t>(wrote);
  }
  return kOk;
}

int export_holdings(ExportOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  const auto collector = open_collector(collecting, options.past);
  if (!collector) return complain(collector.error().message, kNotFound);
  if (const std::string why = find_selected(options.selection, collector->snapshot());
      !why.empty()) {
    return complain(why, kNotFound);
  }
  auto holdings = holdings_of(*collector, options);
  if (!holdings) return complain(holdings.error().message, kNotFound);
  const auto format = std::ranges::find(exports::formats(), options.format, &exports::Format::name);
  const std::string bytes = format->write({&collector->snapshot(), std::move(*holdings)});
  if (options.output == "-") return Output::print(bytes);
  fmt::print(stderr, "ttmem: {} holds {}\n", format->name, format->limits);
  return write_file(options.output, options.force, bytes);
}

constexpr const char* kExportExamples =
    "Formats: folded (flamegraph.pl, inferno, speedscope), speedscope, pprof (google/pprof and\n"
    "whatever reads heap profiles), csv (a line for each holding). The file is yours alone "
    "(0600).\n"
    "Examples:\n"
    "  ttmem export --to pprof -o now.pb && pprof -top -tagfocus=space=dram now.pb\n"
    "  ttmem export --to speedscope --from night.ttm --at failure -o failure.speedscope.json\n"
    "  ttmem export --to folded -o - | flamegraph.pl > held.svg\n"
    "  ttmem export --to csv --failure 1 --pid 4711 -o failure.csv";

}  // namespace

void register_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write what is held for other tools");
  command->footer(kExportExamples);
  std::vector<std::string> names;
  for (const exports::Format& format : exports::formats()) names.emplace_back(format.name);
  command->add_option("--to", options->format, "The format: folded, speedscope, pprof or csv")
      ->type_name("FORMAT")
      ->required()
      ->check(CLI::IsMember(names));
  command->add_option("-o,--output", options->output, "File to write; - is standard output")
      ->type_name("FILE")
      ->required();
  command->add_flag("--force", options->force, "Overwrite an existing file");
  add_past(*command, options->past);
  command->add_option("--failure", options->failure, "What was held when failure N happened")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  add_selection(*command, "kind", "Only these kinds: buffer, program, kernel, range, trace",
                options->selection);
  add_selection(*command, "device", "Only what is on this device, by id or unique id",
                options->selection);
  add_selection(*command, "pid", "Only what this process holds, or held when it died; or PID/START",
                options->selection);
  command->callback(
      [options, &action] { action = [options] { return export_holdings(*options); }; });
}

}  // namespace ttmem::cli
