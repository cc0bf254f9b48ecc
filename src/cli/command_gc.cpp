// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/say.hpp"
#include "collect/gc.hpp"
#include "view/printable.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

std::string lines(std::string_view word, const std::vector<collect::GcEntry>& entries) {
  std::string text;
  for (const collect::GcEntry& entry : entries) {
    text += fmt::format("{} {} ({}) {}: {}\n", word, view::printable(entry.name), entry.pid,
                        view::bytes_text(entry.bytes), view::printable(entry.reason));
  }
  return text;
}

std::string summary(const collect::GcReport& report, bool dry_run) {
  return fmt::format("{} {} of ended processes ({}), kept {}; {} alive\n",
                     dry_run ? "would remove" : "removed",
                     view::count_text(report.removed.size(), "segment"),
                     view::bytes_text(report.removed_bytes), report.kept.size(), report.alive);
}

int gc(const collect::GcOptions& options) {
  const collect::GcReport report = collect::collect_garbage(options);
  const int written =
      Output::print(lines(options.dry_run ? "would remove" : "removed", report.removed) +
                    lines("kept", report.kept) + summary(report, options.dry_run));
  if (report.failed.empty()) return written;
  say("{}", lines("ttmem: cannot remove", report.failed));
  return kFailed;
}

constexpr const char* kGcExamples =
    "What a dead process held is kept, so that you can find out why it died: for 24 hours, and of\n"
    "at most 32 processes; of one that ended cleanly for a minute. What belongs to a running\n"
    "process is never removed.\n"
    "Examples:\n"
    "  ttmem gc             remove what is beyond these limits\n"
    "  ttmem gc --all       remove everything that ended processes left\n"
    "  ttmem gc --dry-run   print what would be removed";

}  // namespace

void register_gc(CLI::App& app, Action& action) {
  auto options = std::make_shared<collect::GcOptions>();
  CLI::App* command = app.add_subcommand("gc", "Remove what ended processes left behind");
  command->footer(kGcExamples);
  command->add_flag("--all", options->all,
                    "Remove everything, not only what is beyond the limits below");
  command->add_flag("--dry-run", options->dry_run, "Only print what would be removed");
  command->callback([options, &action] { action = [options] { return gc(*options); }; });
}

}  // namespace ttmem::cli
