// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/past.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/exit_code.hpp"
#include "cli/read_progress.hpp"
#include "cli/reading_options.hpp"
#include "collect/replay_outline.hpp"
#include "inject/launch/launch.hpp"
#include "view/printable.hpp"

namespace ttmem::cli {

CLI::Option* add_past(CLI::App& command, Past& past) {
  auto* from = command
                   .add_option("--from", past.file,
                               "Read a recording of `ttmem record` instead of what is there now")
                   ->type_name("FILE");
  command
      .add_option(
          "--at", past.at,
          "The moment of the recording: start, end (the default), peak, failure (the last one), "
          "+SECONDS after the start, -SECONDS before the end, or a time of day")
      ->type_name("WHEN")
      ->needs(from);
  return from;
}

namespace {

// Peaks and failures are found by reading all of it.
Result<ledger::TimeNs> moment_of(const Past& past, const collect::Replay& replay) {
  ReadProgress progress;
  return collect::moment_named(past.at, replay, nullptr, [&](double part) {
    progress.show(part);
    return true;
  });
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-+./:@%,").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return view::printable(std::ranges::all_of(text, is_plain) ? text : inject::shell_quoted(text));
}

}  // namespace

std::string options_text(const Past& past) {
  if (!past) return "";
  std::string text = " --from " + shell_word(past.file);
  if (!past.at.empty()) text += " --at " + shell_word(past.at);
  return text;
}

Result<collect::Collector> open_collector(const collect::Options& options, const Past& past) {
  if (!past) {
    collect::Collector collector(options);
    collector.refresh();
    return collector;
  }
  auto collector = collect::Collector::open_recording(past.file, options);
  if (!collector) return collector.error();
  const auto time = moment_of(past, *collector->replay());
  if (!time) return time.error();
  collector->replay()->seek(*time);
  collector->refresh();
  return collector;
}

int open_selected(const collect::Options& options, const Past& past, view::Selection& selection,
                  std::optional<collect::Collector>& collector) {
  auto opened = open_collector(options, past);
  if (!opened) return complain(opened.error().message, kNotFound);
  collector.emplace(std::move(*opened));
  if (const std::string why = unusable_directory(collector->directories()); !why.empty() && !past) {
    return complain(why, kFailed);
  }
  const std::string why = find_selected(selection, collector->snapshot());
  return why.empty() ? static_cast<int>(kOk) : complain(why, kNotFound);
}

}  // namespace ttmem::cli
