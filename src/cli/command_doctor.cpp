// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
#include "cli/say.hpp"
#include "cli/support_bundle.hpp"
#include "inject/doctor/diagnosis.hpp"
#include "inject/doctor/find_library.hpp"
#include "inject/launch/launch.hpp"
#include "view/json_values.hpp"
#include "view/printable.hpp"

namespace ttmem::cli {
namespace {

// Of one that is not bound.
std::string words_for(const inject::HookFinding& hook) {
  if (hook.replaced) return "not in this release, and not needed there";
  if (hook.state == inject::HookState::kDirect) return "called directly, costs: " + hook.lost;
  return "MISSING, costs: " + hook.lost;
}

// As its package says, else as the library itself does; empty if neither tells.
const std::string& version_of(const inject::LibraryPlace& place,
                              const inject::Diagnosis& diagnosis) {
  return place.version.empty() ? diagnosis.version : place.version;
}

std::string text_for(const inject::LibraryPlace& place, const inject::Diagnosis& diagnosis) {
  const std::string& version = version_of(place, diagnosis);
  std::string text = fmt::format("{}\n  found     {}\n  version   {}\n  hooks     {} of {} bound\n",
                                 view::printable(place.path), view::printable(place.why),
                                 version.empty() ? "not known" : view::printable(version),
                                 diagnosis.bound(), diagnosis.hooks.size());
  for (const auto& hook : diagnosis.hooks) {
    if (hook.state == inject::HookState::kBound) continue;
    text += fmt::format("    {:<28} {}\n", hook.name, words_for(hook));
  }
  if (!place.lines.empty()) text += fmt::format("  lines     {}\n", view::printable(place.lines));
  const auto lost = diagnosis.lost();
  if (lost.empty()) return text + "  verdict   everything can be recorded\n";
  text += fmt::format("  verdict   not available: {}\n", fmt::join(lost, "; "));
  return text;
}

Check preload_check() {
  const auto preload = inject::find_preload();
  if (preload) return {"preload", Verdict::kPass, *preload, ""};
  return {"preload", Verdict::kFail, "MISSING: " + preload.error().message,
          "install ttmem again; `ttmem run` cannot record without it"};
}

// Everything that was found: the checks in the order in which they are told, and each library.
struct Examination {
  struct Library {
    inject::LibraryPlace place;
    inject::Diagnosis diagnosis;
  };
  std::vector<Check> checks;
  std::vector<Library> libraries;

  bool failed() const {
    return std::ranges::any_of(checks,
                               [](const Check& each) { return each.verdict == Verdict::kFail; });
  }
};

constexpr const char* kNameProgram =
    "name the program that uses it: `ttmem doctor -- python` or `ttmem doctor -- ./a.out`, or the "
    "library: `ttmem doctor -- /path/libtt_metal.so`";

// In one line what a TT-Metal takes away.
Check hooks_check(const inject::LibraryPlace& place, const inject::Diagnosis& diagnosis) {
  const std::string& version = version_of(place, diagnosis);
  const std::string found =
      fmt::format("{}{}: {} of {} bound", place.path, version.empty() ? "" : ", version " + version,
                  diagnosis.bound(), diagnosis.hooks.size());
  const auto lost = diagnosis.lost();
  if (lost.empty()) return {"hooks", Verdict::kPass, found, ""};
  return {"hooks", Verdict::kFail,
          fmt::format("{}; not available: {}", found, fmt::join(lost, "; ")),
          "a newer ttmem may know this TT-Metal; every other figure stays exact"};
}

Check lines_check(const inject::LibraryPlace& place) {
  if (place.lines.find("NOT") == std::string::npos) {
    return {"lines", Verdict::kPass, place.lines, ""};
  }
  std::string remedy =
      "memory is recorded all the same; name parts of a model with ttmem.region(), or use a Python "
      "that tells its lines (CPython 3.8 to 3.14)";
  if (place.lines.find("TTMEM_LINES") != std::string::npos) remedy = "unset TTMEM_LINES";
  if (place.lines.find("start file") != std::string::npos) {
    remedy = "leave that option out, or call ttmem.track() in the program";
  }
  return {"lines", Verdict::kWarn, place.lines, remedy};
}

void examine_library(const inject::LibraryPlace& place, Examination& examination) {
  const auto diagnosis = inject::diagnose(place.path);
  if (!diagnosis) {
    examination.checks.push_back({"hooks", Verdict::kFail, diagnosis.error().message,
                                  "install that TT-Metal again, or name another one"});
    return;
  }
  examination.checks.push_back(hooks_check(place, *diagnosis));
  if (!place.lines.empty()) examination.checks.push_back(lines_check(place));
  examination.libraries.push_back({place, *diagnosis});
}

Examination examine(const std::vector<std::string>& program) {
  Examination examination;
  examination.checks = host_checks();
  examination.checks.push_back(preload_check());
  const auto places = inject::find_libraries(program);
  if (!places) {
    examination.checks.push_back({"hooks", Verdict::kFail, places.error().message, kNameProgram});
    return examination;
  }
  if (places->empty()) {
    examination.checks.push_back(
        {"hooks", Verdict::kFail, "no libtt_metal.so was found",
         std::string(program.empty() ? "activate the environment that has ttnn, or " : "") +
             kNameProgram});
  }
  for (const auto& place : *places) examine_library(place, examination);
  return examination;
}

view::Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return view::Tone::kGood;
    case Verdict::kWarn:
      return view::Tone::kWarn;
    case Verdict::kFail:
      return view::Tone::kBad;
  }
  return view::Tone::kPlain;
}

// One line, and what belongs to it below, indented as the finding is.
std::string check_text(const Check& check, const view::Style& style) {
  std::string text =
      fmt::format("{}  {:<12}", style.paint(tone_of(check.verdict), name(check.verdict)), check.id);
  std::string_view rest = check.finding;
  for (bool first = true; first || !rest.empty(); first = false) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += (first ? "" : std::string(18, ' ')) + view::printable(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!check.remedy.empty()) text += fmt::format("      {:<12}{}\n", "to do", check.remedy);
  return text;
}

std::string examination_text(const Examination& examination, const view::Style& style) {
  std::string text;
  for (const Check& check : examination.checks) text += check_text(check, style);
  for (const auto& [place, diagnosis] : examination.libraries) {
    text += "\n" + text_for(place, diagnosis);
  }
  return text;
}

std::string_view state_name(const inject::HookFinding& hook) {
  if (hook.state == inject::HookState::kBound) return "bound";
  if (hook.replaced) return "not_needed";
  return hook.state == inject::HookState::kDirect ? "direct" : "missing";
}

view::json::Json library_json(const Examination::Library& library) {
  const auto& [place, diagnosis] = library;
  view::json::Json one{{"path", place.path},
                       {"why", place.why},
                       {"version", view::json::text_or_null(version_of(place, diagnosis))},
                       {"lines", view::json::text_or_null(place.lines)},
                       {"lost", diagnosis.lost()},
                       {"hooks", view::json::Json::array()}};
  for (const auto& hook : diagnosis.hooks) {
    one["hooks"].push_back(
        {{"name", hook.name}, {"state", state_name(hook)}, {"costs", hook.lost}});
  }
  return one;
}

std::string examination_json(const Examination& examination) {
  view::json::Json document{{"document", "doctor"},
                            {"schema", view::kJsonSchema},
                            {"version", TTMEM_VERSION},
                            {"checks", view::json::Json::array()},
                            {"libraries", view::json::Json::array()}};
  for (const Check& check : examination.checks) {
    document["checks"].push_back({{"id", check.id},
                                  {"verdict", name(check.verdict)},
                                  {"finding", check.finding},
                                  {"remedy", view::json::text_or_null(check.remedy)}});
  }
  for (const auto& library : examination.libraries) {
    document["libraries"].push_back(library_json(library));
  }
  return view::json::text(document, view::JsonLayout::kPretty) + "\n";
}

struct DoctorOptions {
  std::vector<std::string> program;
  std::string bundle;
  bool json = false;
};

int doctor(const DoctorOptions& options) {
  const Examination examination = examine(options.program);
  const bool only_bundle = options.bundle == "-";
  Output output;
  if (!only_bundle) {
    output.write(options.json ? examination_json(examination)
                              : examination_text(examination, output.style()));
  }
  if (const int printed = output.finish(); printed != kOk) return printed;
  if (!options.bundle.empty()) {
    const int wrote = write_support_bundle(options.bundle, examination_json(examination));
    if (wrote != kOk) return wrote;
  }
  if (!options.bundle.empty() && !only_bundle) {
    say("ttmem: wrote {}; look into it before you send it (tar -tvf)\n",
        view::printable(options.bundle));
  }
  return examination.failed() ? kNotFound : kOk;
}

constexpr const char* kDoctorExamples =
    "The one place for \"it does not work\": driver, devices, directory, permissions, room, "
    "daemon,\n"
    "clock, terminal, the hooks and the lines of each TT-Metal, each PASS, WARN or FAIL with what "
    "to\n"
    "do. The program is not run. A missing function costs the figure named beside it; all others\n"
    "stay exact. What a running process really records is shown by `ttmem status`.\n"
    "Exit code 1 if a check says FAIL.\n"
    "Examples:\n"
    "  ttmem doctor                  what the environment and the Python on PATH point to\n"
    "  ttmem doctor -- python3.10    what this Python imports; also: -- pytest\n"
    "  ttmem doctor -- ./my_program  what this binary is linked to\n"
    "  ttmem doctor --bundle for-the-ticket.tar   all of it in a file of your own, without secrets";

}  // namespace

void register_doctor(CLI::App& app, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      app.add_subcommand("doctor", "Check what could keep ttmem from working, and what helps");
  command->footer(kDoctorExamples);
  command->prefix_command();
  command->add_flag("--json", options->json, "Print JSON");
  command
      ->add_option(
          "--bundle", options->bundle,
          "Also write a support archive, which must not exist; -: only that, to standard output")
      ->type_name("FILE");
  command->callback([command, options, &action] {
    options->program = program_of(*command);
    action = [options] { return doctor(*options); };
  });
}

}  // namespace ttmem::cli
