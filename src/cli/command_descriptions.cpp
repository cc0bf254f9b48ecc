// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/command_descriptions.hpp"

#include <CLI/CLI.hpp>

namespace ttmem::cli {
namespace {

// "NAME:{seeds,busy}" as the parser writes type and check: what is in the braces.
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::vector<std::string> choices;
  std::string rest = type.substr(open + 1, close - open - 1) + ",";
  for (std::size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
    choices.push_back(rest.substr(0, comma));
    rest.erase(0, comma + 1);
  }
  return choices;
}

OptionDescription describe(const CLI::Option& option) {
  OptionDescription words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.description = option.get_description();
  words.default_value = option.get_default_str();
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() > 0) {
    words.value = type.substr(0, type.find_first_of(":{ "));
    if (words.value.empty()) words.value = option.get_name(true);
    words.choices = choices_in(type);
  }
  return words;
}

}  // namespace

CommandDescription describe(const CLI::App& app) {
  CommandDescription words;
  words.name = app.get_name();
  words.description = app.get_description();
  words.footer = app.get_footer();
  words.runs_program = app.get_prefix_command();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) words.options.push_back(describe(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) words.commands.push_back(describe(*command));
  }
  return words;
}

}  // namespace ttmem::cli
