// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/private_file.hpp"
#include "cli/read_progress.hpp"
#include "cli/reading_options.hpp"
#include "report/report.hpp"

namespace ttmem::cli {
namespace {

struct ReportOptions {
  report::Question question;
  view::Selection selection;
  std::string output, format = "html";
  bool live = false, force = false;
};

std::string written(const report::Report& report, const std::string& format) {
  if (format == "text") return report::text(report, {});
  return format == "markdown" ? report::markdown(report) : report::html(report);
}

int report_it(ReportOptions& options) {
  ReadProgress progress;
  options.question.process = options.selection.process();
  options.question.progress = [&](double part) { progress.show(part); };
  const auto report = report::gather(options.question);
  if (!report) return complain(report.error().message, kNotFound);
  auto file = PrivateFile::create(options.output, options.force, options.question.file);
  if (!file) return complain(file.error().message, kFailed);
  file->write(written(*report, options.format));
  return file->finish();
}

void check(const ReportOptions& options) {
  const bool present = options.live || options.selection.process();
  if (options.question.file.empty() == !present) {
    throw CLI::ValidationError("report", "needs one of a recording, --pid PID and --live");
  }
  if (options.output.empty()) {
    throw CLI::ValidationError("-o", "is needed: the file to write, or - for standard output");
  }
}

constexpr const char* kReportExamples =
    "One file to attach to a ticket, which opens in any browser and needs no network: a summary,\n"
    "memory over time, who held it at the peak by line, the L1 of the tightest core, programs and\n"
    "their launches, and every failure explained. The file is yours alone (0600): whoever gets it\n"
    "sees names of files, users and commands, unless --redact hides them.\n"
    "Examples:\n"
    "  ttmem report night.ttm -o night.html\n"
    "  ttmem report night.ttm -o night.html --redact   for strangers\n"
    "  ttmem report --live -o now.html                 what is there now\n"
    "  ttmem report run.ttm --format text              for the log of a CI job\n"
    "  ttmem report run.ttm --format markdown >> \"$GITHUB_STEP_SUMMARY\"";

}  // namespace

void register_report(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "Write one file that tells a run to people: HTML, text or Markdown");
  command->footer(kReportExamples);
  command->add_option("FILE", options->question.file, "A recording of `ttmem record`")
      ->type_name("");
  command->add_flag("--live", options->live, "Tell what all processes hold now, no recording");
  add_selection(*command, "pid",
                "Tell what this process holds now, or held when it died; or PID/START",
                options->selection);
  command->add_option("-o,--output", options->output, "File to write; - is standard output")
      ->type_name("FILE");
  command->add_option("--format", options->format, "Write html (the default), text or markdown")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"html", "text", "markdown"}));
  command->add_flag("--force", options->force, "Overwrite an existing file");
  command->add_flag("--redact", options->question.redact,
                    "Write numbers instead of users, hosts, commands and paths");
  command->callback([options, &action] {
    if (options->output.empty() && options->format != "html") options->output = "-";
    check(*options);
    action = [options] { return report_it(*options); };
  });
}

}  // namespace ttmem::cli
