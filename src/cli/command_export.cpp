// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/past.hpp"
#include "cli/private_file.hpp"
#include "cli/reading_options.hpp"
#include "cli/say.hpp"
#include "cli/tell_story.hpp"
#include "collect/collector.hpp"
#include "export/formats.hpp"
#include "view/text_editor.hpp"

namespace ttmem::cli {
namespace {

struct ExportOptions {
  StoryQuestion question;
  std::string format, table, output;
  bool force = false;
};

// What is held, or was at a failure. An error is in words for the user.
Result<std::vector<ledger::HoldingView>> holdings_of(const collect::Collector& collector,
                                                     const StoryQuestion& options) {
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

int write_moment(const exports::Format& format, ExportOptions& options, PrivateFile& file) {
  collect::Options collecting;
  view::Selection& selection = options.question.selection;
  collecting.process = selection.process();
  const auto collector = open_collector(collecting, options.question.past);
  if (!collector) return complain(collector.error().message, kNotFound);
  if (const std::string why = find_selected(selection, collector->snapshot()); !why.empty()) {
    return complain(why, kNotFound);
  }
  auto holdings = holdings_of(*collector, options.question);
  if (!holdings) return complain(holdings.error().message, kNotFound);
  view::TextEditor editor(options.question.redact);
  ledger::Snapshot snapshot = collector->snapshot();
  editor.edit(snapshot);
  for (ledger::HoldingView& holding : *holdings) editor.edit(holding);
  format.moment({&snapshot, std::move(*holdings)},
                [&](std::string_view bytes) { file.write(bytes); });
  return kOk;
}

int write_story(const exports::Format& format, ExportOptions& options, PrivateFile& file) {
  const auto scribe = format.story([&](std::string_view bytes) { file.write(bytes); });
  const auto told = tell_story(options.question, *scribe, [&] { return file.is_over(); });
  if (!told) return complain(told.error().message, kNotFound);
  if (const std::string text = scribe->left_out(); !text.empty()) {
    say("ttmem: {}\n", text);
  }
  return kOk;
}

const exports::Format* find_format(const ExportOptions& options) {
  for (const exports::Format& format : exports::formats()) {
    if (format.name == options.format && format.table == options.table) return &format;
  }
  return nullptr;
}

int export_it(ExportOptions& options) {
  const exports::Format* format = find_format(options);
  auto file = PrivateFile::create(options.output, options.force, options.question.past.file);
  if (!file) return complain(file.error().message, kFailed);
  say("ttmem: {} holds {}\n", format->name, format->limits);
  const int code = format->moment != nullptr ? write_moment(*format, options, *file)
                                             : write_story(*format, options, *file);
  return code == kOk ? file->finish() : file->give_up(code);
}

constexpr const char* kExportExamples =
    "One moment: folded (flamegraph.pl, inferno), speedscope, pprof, csv and parquet (pandas).\n"
    "What happened up to it: perfetto, chrome-json (Perfetto, Tracy), pytorch (memory_viz), and "
    "csv\n"
    "and parquet with --table events or series. Of the present, that is what the processes still\n"
    "remember: their last 8,192 events. The file is yours alone (0600).\n"
    "Examples:\n"
    "  ttmem export --to pprof -o now.pb && pprof -top -tagfocus=space=dram now.pb\n"
    "  ttmem export --to perfetto --from night.ttm -o night.pftrace\n"
    "  ttmem export --to speedscope --from night.ttm --at failure -o failure.speedscope.json\n"
    "  ttmem export --to folded -o - | flamegraph.pl > held.svg\n"
    "  ttmem export --to parquet --table events --from night.ttm -o events.parquet\n"
    "  ttmem export --to csv --failure 1 --pid 4711 -o failure.csv";

// Each once, in the order of the table.
std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const exports::Format& format : exports::formats()) {
    if (names.empty() || names.back() != format.name) names.emplace_back(format.name);
  }
  return names;
}

// "folded, …, parquet --table holdings": what holds one moment.
std::string moment_names() {
  std::string names;
  for (const exports::Format& format : exports::formats()) {
    if (format.moment == nullptr) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
    if (!format.table.empty()) names += fmt::format(" --table {}", format.table);
  }
  return names;
}

// csv and parquet have tables, the others none.
void choose_table(ExportOptions& options, bool kind_is_given) {
  if (options.table.empty()) {
    options.table = "holdings";
    if (find_format(options) == nullptr) options.table.clear();
  }
  const exports::Format* format = find_format(options);
  if (format == nullptr) {
    throw CLI::ValidationError("--table", "goes with --to csv and --to parquet");
  }
  if (kind_is_given && format->moment == nullptr) {
    throw CLI::ValidationError("--kind", "goes with what holds one moment: --to " + moment_names());
  }
}

}  // namespace

void register_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  StoryQuestion& question = options->question;
  CLI::App* command =
      app.add_subcommand("export", "Write what is held, or happened, for other tools");
  command->footer(kExportExamples);
  const std::vector<std::string> names = format_names();
  command
      ->add_option("--to", options->format, fmt::format("The format: {}", fmt::join(names, ", ")))
      ->type_name("FORMAT")
      ->required()
      ->check(CLI::IsMember(names));
  command
      ->add_option("--table", options->table,
                   "Of csv and parquet: holdings (the default), events, or series: bytes by time")
      ->type_name("TABLE")
      ->check(CLI::IsMember({"holdings", "events", "series"}));
  command->add_option("-o,--output", options->output, "File to write; - is standard output")
      ->type_name("FILE")
      ->required();
  command->add_flag("--force", options->force, "Overwrite an existing file");
  command->add_flag("--redact", question.redact,
                    "Write numbers instead of users, hosts, commands and paths");
  add_past(*command, question.past);
  command
      ->add_option("--failure", question.failure,
                   "What was held when failure N happened, or what happened up to it")
      ->type_name("N")
      ->check(positive_number);
  add_selection(*command, "kind",
                "Only these kinds, of one moment: buffer, program, kernel, range, trace",
                question.selection);
  add_selection(*command, "device", "Only what is on this device, by id or unique id",
                question.selection);
  add_selection(*command, "pid", "Only what this process holds, or held when it died; or PID/START",
                question.selection);
  command->callback([options, command, &action] {
    choose_table(*options, command->count("--kind") > 0);
    action = [options] { return export_it(*options); };
  });
}

}  // namespace ttmem::cli
