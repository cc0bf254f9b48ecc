// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/read_progress.hpp"
#include "cli/reading_options.hpp"
#include "cli/say.hpp"
#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "recording/format.hpp"
#include "view/comparison.hpp"

namespace ttmem::cli {
namespace {

constexpr std::size_t kMostDocumentBytes = 1u << 30;

struct DiffOptions {
  std::string before, after;
  std::vector<std::string> limit_texts;
  std::vector<view::Limit> limits;
  std::size_t rows = 20;
  FormatChoice format;
};

// "FILE@WHEN"; a file whose name has an @ in it goes before.
Past past_of(const std::string& text) {
  const std::size_t sign = text.rfind('@');
  const bool whole = sign == std::string::npos || std::ifstream(text).good();
  if (whole) return {text, "peak"};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

bool is_recording(const std::string& path) {
  char magic[16] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(magic, sizeof magic);
  return file.gcount() == sizeof magic &&
         std::equal(std::begin(recording::kMagic), std::end(recording::kMagic), magic + 8);
}

// The peaks are those that `ttmem status --summary` names.
Result<view::Side> recorded_side(const Past& past) {
  const auto collector = open_collector({}, past);
  if (!collector) return collector.error();
  std::vector<ledger::HoldingView> holdings;
  collector->holdings([&](const ledger::HoldingView& holding) { holdings.push_back(holding); });
  view::Side side = view::side_of(holdings);
  side.time = collector->snapshot().time;
  ReadProgress progress;
  const auto outline = collect::outline_of(*collector->replay(), 1, [&](double part) {
    progress.show(part);
    return true;
  });
  if (!outline) return outline.error();
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    side.figures[std::string(ledger::name(space)) + ".peak"] = 0;
  }
  for (const collect::Mark& mark : outline->marks) {
    if (!mark.space) continue;
    side.figures[std::string(ledger::name(*mark.space)) + ".peak"] = mark.bytes;
  }
  return side;
}

Result<view::Side> document_side(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::kNotFound, path + ": there is no such file to read"};
  std::string text;
  char part[1u << 16];
  while (text.size() < kMostDocumentBytes && (file.read(part, sizeof part), file.gcount() > 0)) {
    text.append(part, static_cast<std::size_t>(file.gcount()));
  }
  auto side = view::read_side(text);
  if (!side) return Error{side.error().code, path + ": " + side.error().message};
  return side;
}

Result<view::Side> side_named(const std::string& text) {
  const Past past = past_of(text);
  auto side = is_recording(past.file) ? recorded_side(past) : document_side(text);
  if (side) side->name = text;
  return side;
}

int diff(const DiffOptions& options) {
  auto before = side_named(options.before);
  if (!before) return complain(before.error().message, kNotFound);
  auto after = side_named(options.after);
  if (!after) return complain(after.error().message, kNotFound);
  view::Comparison comparison = view::compare(std::move(*before), std::move(*after));
  for (const view::Limit& limit : options.limits) {
    const std::string broken = limit.broken_by(comparison.before, comparison.after);
    if (!broken.empty()) comparison.broken_limits.push_back(broken);
  }
  comparison.rows_shown = options.rows;
  Output output;
  options.format.print(diff_formats(), output, comparison);
  const int code = output.finish();
  for (const std::string& broken : comparison.broken_limits) {
    say("ttmem: limit broken: {}\n", broken);
  }
  return code != kOk ? code : comparison.broken_limits.empty() ? kOk : kNotFound;
}

constexpr const char* kDiffExamples =
    "BEFORE and AFTER are recordings of `ttmem record`, or documents of `ttmem dump --json` or\n"
    "`ttmem status --json` (totals alone). FILE@WHEN is a moment of a recording, named as in\n"
    "other commands; the default is the peak. Bytes are those on all devices together;\n"
    "NAME.peak is the most that all of the recording had. 64K, 64KiB and 65536 are the same.\n"
    "Examples:\n"
    "  ttmem diff monday.ttm tuesday.ttm               what the peaks consist of\n"
    "  ttmem diff run.ttm@+60 run.ttm@end              what came in between\n"
    "  ttmem diff good.ttm new.ttm --fail-if 'dram.peak>+2%' --fail-if 'l1.peak>64MiB'\n"
    "                                                  exit code 1 if it grew beyond that\n"
    "  ttmem dump --json > before.json; ...; ttmem dump --json > after.json\n"
    "  ttmem diff before.json after.json --format markdown";

}  // namespace

void register_diff(CLI::App& app, Action& action) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command =
      app.add_subcommand("diff", "Compare two runs or moments: what grew, shrank, came and went");
  command->footer(kDiffExamples);
  command->add_option("BEFORE", options->before, "FILE or FILE@WHEN")->type_name("")->required();
  command->add_option("AFTER", options->after, "FILE or FILE@WHEN")->type_name("")->required();
  command
      ->add_option("--fail-if", options->limit_texts,
                   "Exit with 1 if a figure grew beyond this: dram.peak>+2%, l1.taken>+4MiB, "
                   "dram.peak>12GiB")
      ->type_name("LIMIT")
      ->allow_extra_args(false);
  command->add_option("--rows", options->rows, "Show at most N rows of each list (20)")
      ->type_name("N");
  options->format.offer(*command, diff_formats(), "Print text, markdown or json");
  command->callback([options, &action] {
    for (const std::string& text : options->limit_texts) {
      const auto limit = view::Limit::parse(text);
      if (!limit) throw CLI::ValidationError("--fail-if", limit.error().message);
      options->limits.push_back(*limit);
    }
    action = [options] { return diff(*options); };
  });
}

}  // namespace ttmem::cli
