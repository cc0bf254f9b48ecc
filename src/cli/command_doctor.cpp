// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <pwd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "collect/collector.hpp"
#include "collect/room.hpp"
#include "inject/doctor/diagnosis.hpp"
#include "inject/doctor/find_library.hpp"
#include "inject/launch/launch.hpp"
#include "inject/launch/recording_check.hpp"
#include "view/printable.hpp"
#include "view/units.hpp"

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

std::string user_text(std::uint32_t uid) {
  const passwd* entry = ::getpwuid(uid);  // one thread
  return entry != nullptr ? view::printable(entry->pw_name) : std::to_string(uid);
}

// Who fills a directory that has no room, the most first.
std::string fillers_text(const collect::Room& room) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (const collect::Room::Share& share : room.shares) {
    if (&share - room.shares.data() == kMost) break;
    text += fmt::format("            {} of {} in {}\n", view::bytes_text(share.bytes),
                        user_text(share.owner), view::count_text(share.files, "file"));
  }
  return text;
}

// Where a process of this user would record, and what of the recordings is not read.
std::string recordings_text(const inject::RecordingCheck& check) {
  std::string text;
  if (!check.problem.empty()) {
    text += fmt::format("recordings  NONE: {}\n", view::printable(check.problem));
  }
  for (const collect::Room& room : collect::rooms_to_record()) {
    text += fmt::format("recordings  {}: {} free of {}\n", view::printable(room.path),
                        view::bytes_text(room.free_bytes), view::bytes_text(room.total_bytes));
    if (room.has_room) break;
    text += "            no room for another process. It is filled by\n" + fillers_text(room);
  }
  collect::Collector collector(collect::Options{.directories = {}, .totals_only = true});
  collector.refresh();
  for (const std::string& line : collector.snapshot().unreadable) {
    text += fmt::format("            not read: {}\n", view::printable(line));
  }
  return text;
}

constexpr const char* kNothing =
    "No libtt_metal.so found. Name the program that uses it: `ttmem doctor -- python` or\n"
    "`ttmem doctor -- ./a.out`, or the library itself: `ttmem doctor -- /path/libtt_metal.so`.\n";

int doctor(const std::vector<std::string>& program) {
  const auto check = inject::check_recording();
  std::string text = preload_text();
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
  text += recordings_text(check);
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
    "Also where processes record, who filled that directory if it is full, and what is not read.\n"
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
