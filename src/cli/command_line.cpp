// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/command_line.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/say.hpp"
#include "legacy/commands.hpp"
#include "view/printable.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kDescription =
    "ttmem: what occupies the memory of my Tenstorrent devices, who put it there, what is left?\n"
    "Programs that `ttmem run` starts record their device memory; the other commands read it.\n"
    "`ttmem COMMAND --help` explains a command, with examples.";

constexpr const char* kFooter =
    "Environment:\n"
    "  TTMEM_DIR        directory of the recordings, instead of /run/ttmem or /dev/shm/ttmem-UID\n"
    "  TTMEM_DISABLE=1  record nothing\n"
    "  TTMEM_SERVE      daemon to ask about processes of other users: a socket, HOST:PORT, or off\n"
    "  NO_COLOR=1       no colours\n"
    "Exit codes: 0 success, 1 not found, 2 wrong usage, 3 system error, 4 a daemon already runs";

// Options with the name of their value and their default, and nothing else.
class ShortFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    const std::string type = option->get_type_name();
    return " " + type.substr(0, type.find(':'));
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string standard = option->get_default_str();
    return option->get_description() + (standard.empty() ? "" : " (default " + standard + ")");
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (app->get_prefix_command()) {
      usage.insert(usage.find_last_not_of('\n') + 1, " [PROGRAM [ARGUMENT ...]]");
    }
    return usage;
  }
};

// A first word that is no command is the most common mistake.
bool names_no_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  const auto is_named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
  return app.get_subcommands(is_named).empty();
}

int explain_commands(const CLI::App& app, const char* word) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;  // not for people
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  say("ttmem: unknown command {}; the commands are: {}\n`ttmem --help` explains them.\n",
      view::printable(word), names);
  return kUsage;
}

// The subcommand whose options were being read, for the advice at the end of an error.
std::string help_command(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) return "ttmem " + command->get_name();
  return "ttmem";
}

// The parser's own words for the most common mistakes are those of a programmer.
std::string plain_words(const std::string& error) {
  const auto after = [&](std::string_view mark) {
    const std::size_t at = error.find(mark);
    return at == std::string::npos ? "" : error.substr(at + mark.size());
  };
  if (std::string word = after("not expected: "); !word.empty()) {
    return (word.starts_with('-') ? "unknown option: " : "unexpected argument: ") + word;
  }
  if (const std::string choices = after(" not in {"); choices.ends_with('}')) {
    const std::string option = error.substr(0, error.find(": ") + 2);
    std::string list;
    for (const char letter : choices.substr(0, choices.size() - 1)) {
      list += letter == ',' ? ", " : std::string(1, letter);
    }
    return option + "must be one of " + list;
  }
  if (error.ends_with(" missing")) return error.substr(0, error.find(": ")) + " needs a value";
  return error;
}

int explain(const CLI::App& app, const CLI::ParseError& error) {
  say("ttmem: {}\n`{} --help` shows how to use it.\n", plain_words(error.what()),
      help_command(app));
  return kUsage;
}

// `run`, `record` and `doctor` hand on the words of a program. The "--" before them has done its
// work once the program's first word is known, and the parser would take it for its own.
std::vector<std::string> without_separator(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return words;
  if (words[0] == "record" ||
      words[0] == "doctor") {  // its options have values, which do not begin with '-'
    const auto separator = std::ranges::find(words, "--");
    if (separator != words.end()) words.erase(separator);
    return words;
  }
  if (words[0] != "run") return words;
  const CLI::App& command = *app.get_subcommand("run");
  for (std::size_t i = 1; i < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    const CLI::Option* option = command.get_option_no_throw(words[i]);
    if (option != nullptr && option->get_items_expected_min() > 0) ++i;  // its value
  }
  return words;
}

int parse_and_run(int argc, char** argv) {
  if (argc == 1) return print_overview();
  CLI::App app(kDescription, "ttmem");
  app.footer(kFooter);
  app.set_version_flag("--version", "ttmem " TTMEM_VERSION, "Print the version");
  app.require_subcommand(1);
  app.formatter(std::make_shared<ShortFormatter>());
  app.get_formatter()->column_width(26);
  Action action;
  for (const Register add : commands()) add(app, action);
  if (names_no_command(app, argc, argv)) return explain_commands(app, argv[1]);
  try {
    auto words = without_separator(app, argc, argv);
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return Output::print(app.help());
  } catch (const CLI::CallForVersion&) {
    return Output::print("ttmem " TTMEM_VERSION "\n");
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  return action ? action() : static_cast<int>(kUsage);
}

}  // namespace

const std::vector<Register>& commands() {
  static const std::vector<Register> kAll = {
      register_run,         //
      register_status,      //
      register_top,         //
      register_record,      //
      register_report,      //
      register_export,      //
      register_serve,       //
      register_fleet,       //
      register_push,        //
      register_explain,     //
      register_fit,         //
      register_leaks,       //
      register_diff,        //
      register_dump,        //
      register_events,      //
      register_doctor,      //
      register_gc,          //
      register_demo,        //
      register_completion,  //
      register_manual,      //
  };
  return kAll;
}

std::vector<std::string> program_of(const CLI::App& command) {
  auto words = command.remaining();
  if (!words.empty() && words.front().starts_with('-')) {
    throw CLI::ExtrasError(std::vector<std::string>{words.front()});
  }
  return words;
}

int run(int argc, char** argv) {
  try {
    if (const auto done = legacy::run_by_original_name(argc, argv)) return *done;
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    say("ttmem: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace ttmem::cli
