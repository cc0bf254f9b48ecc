// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "inject/doctor/diagnosis.hpp"
#include "inject/doctor/find_library.hpp"
#include "inject/launch/launch.hpp"
#include "inject/launch/recording_check.hpp"
#include "view/printable.hpp"

namespace ttmem::cli {
namespace {

std::string words_for(const inject::HookFinding& hook) {
  if (hook.state == inject::HookState::kBound) return "bound";
  if (hook.replaced) return "not in this release, and not needed there";
  if (hook.state == inject::HookState::kDirect) return "called directly, costs: " + hook.lost;
  return "MISSING, costs: " + hook.lost;
}

std::string text_for(const inject::LibraryPlace& place, const inject::Diagnosis& diagnosis) {
  const std::string& version = place.version.empty() ? diagnosis.version : place.version;
  std::string text = fmt::format("{}\n  found     {}\n  version   {}\n  hooks     {} of {} bound\n",
                                 view::printable(place.path), view::printable(place.why),
                                 version.empty() ? "not known" : view::printable(version),
                                 diagnosis.bound(), diagnosis.hooks.size());
  for (const auto& hook : diagnosis.hooks) {
    text += fmt::format("    {:<28} {}\n", hook.name, words_for(hook));
  }
  if (!place.lines.empty()) text += fmt::format("  lines     {}\n", view::printable(place.lines));
  const auto lost = diagnosis.lost();
  if (lost.empty()) return text + "  verdict   everything can be recorded\n";
  text += fmt::format("  verdict   not available: {}\n", fmt::join(lost, "; "));
  return text;
}

std::string preload_text() {
  const auto preload = inject::find_preload();
  return preload ? fmt::format("preload     {}\n", *preload)
                 : fmt::format("preload     MISSING: {}\n", preload.error().message);
}

std::string directory_text(const inject::RecordingCheck& check) {
  return fmt::format("directory   {}\n", check.problem.empty()
                                             ? view::printable(check.directory)
                                             : "UNUSABLE: " + view::printable(check.problem));
}

constexpr const char* kNothing =
    "No libtt_metal.so found. Name the program that uses it: `ttmem doctor -- python` or\n"
    "`ttmem doctor -- ./a.out`, or the library itself: `ttmem doctor -- /path/libtt_metal.so`.\n";

int doctor(const std::vector<std::string>& program) {
  const auto check = inject::check_recording();
  std::string text = preload_text() + directory_text(check);
  const auto places = inject::find_libraries(program);
  if (!places) text += fmt::format("{}\n", view::printable(places.error().message));
  bool whole = places && !places->empty() && check.problem.empty();
  for (const auto& place : places ? *places : std::vector<inject::LibraryPlace>{}) {
    const auto diagnosis = inject::diagnose(place.path);
    if (!diagnosis) {
      text += fmt::format("{}\n", diagnosis.error().message);
      whole = false;
      continue;
    }
    text += text_for(place, *diagnosis);
    whole = whole && diagnosis->lost().empty();
  }
  if (places && places->empty()) text += kNothing;
  const int printed = Output::print(text);
  if (printed != kOk) return printed;
  return whole ? kOk : kNotFound;
}

constexpr const char* kDoctorExamples =
    "Shows where a program would be recorded, which TT-Metal it would load, and which functions "
    "of\n"
    "that ttmem can observe.\n"
    "The program is not run. A missing function costs the figure named beside it; all others stay\n"
    "exact. What a running process really records is shown by `ttmem status`.\n"
    "Examples:\n"
    "  ttmem doctor                  what the environment and the Python on PATH point to\n"
    "  ttmem doctor -- python3.10    what this Python imports; also: -- pytest\n"
    "  ttmem doctor -- ./my_program  what this binary is linked to";

}  // namespace

void register_doctor(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("doctor", "Check what ttmem can observe of a TT-Metal");
  command->footer(kDoctorExamples);
  command->prefix_command();
  command->callback([command, &action] {
    action = [program = program_of(*command)] { return doctor(program); };
  });
}

}  // namespace ttmem::cli
