// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_descriptions.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kHead =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# SPDX-FileCopyrightText: The ttmem authors\n";

std::vector<std::string> option_names(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> command_names(const CommandDescription& all) {
  std::vector<std::string> names;
  for (const CommandDescription& command : all.commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> positional_choices(const CommandDescription& command) {
  for (const OptionDescription& option : command.options) {
    if (option.names.empty() && !option.choices.empty()) return option.choices;
  }
  return {};
}

// Within single quotes of a shell; `also` are characters that the completion system itself reads.
std::string quoted(const std::string& text, std::string_view also) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '\'') {
      safe += "'\\''";
      continue;
    }
    if (also.find(letter) != std::string_view::npos) safe += '\\';
    safe += letter;
  }
  return safe;
}

std::string zsh_option(const OptionDescription& option) {
  const std::string description = quoted(first_line(option.description), "[]:");
  std::string action;
  if (!option.value.empty()) {
    action = fmt::format(":{}:", quoted(option.value, "[]:"));
    if (!option.choices.empty()) action += fmt::format("({})", fmt::join(option.choices, " "));
  }
  if (option.names.empty()) return fmt::format(" \\\n        '*{}'", action);
  std::string text;
  for (const std::string& name : option.names) {
    text += fmt::format(" \\\n        '{}[{}]{}'", name, description, action);
  }
  return text;
}

std::string fish_option(const OptionDescription& option, const std::string& condition) {
  std::string text = fmt::format("complete -c ttmem -n '{}'", condition);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    text += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
  } else if (!option.value.empty() && !option.names.empty()) {
    text += " -r";
  }
  return text + fmt::format(" -d '{}'\n", quoted(first_line(option.description), ""));
}

}  // namespace

std::string bash_completion(const CommandDescription& all) {
  const std::string commands = fmt::format("{}", fmt::join(command_names(all), "|"));
  std::string text = kHead;
  text += fmt::format(
      "_ttmem() {{\n"
      "    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "    local command= word words= programs=\n"
      "    for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "        case $word in {}) command=$word; break ;; esac\n"
      "    done\n"
      "    case \"$command $before\" in\n",
      commands);
  for (const CommandDescription& command : all.commands) {
    for (const OptionDescription& option : command.options) {
      for (const std::string& name : option.names) {
        if (option.choices.empty()) continue;
        text += fmt::format(
            "        '{} {}') COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n",
            command.name, name, fmt::join(option.choices, " "));
      }
    }
  }
  text += "    esac\n    case $command in\n";
  for (const CommandDescription& command : all.commands) {
    std::vector<std::string> words = option_names(command);
    for (std::string& choice : positional_choices(command)) words.push_back(std::move(choice));
    text += fmt::format("        {}) words='{}'{} ;;\n", command.name, fmt::join(words, " "),
                        command.runs_program ? " programs=1" : "");
  }
  text += fmt::format("        *) words='{} {}' ;;\n", fmt::join(command_names(all), " "),
                      fmt::join(option_names(all), " "));
  return text +
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "    if [[ $programs && $current != -* && $before =~ ^($command|-.*)$ ]]; then\n"
         "        COMPREPLY=($(compgen -c -- \"$current\"))\n"
         "    fi\n"
         "}\n"
         "complete -o default -F _ttmem ttmem\n";
}

std::string zsh_completion(const CommandDescription& all) {
  std::string text = std::string("#compdef ttmem\n") + kHead +
                     "_ttmem() {\n"
                     "    local -a subcommands\n"
                     "    subcommands=(\n";
  for (const CommandDescription& command : all.commands) {
    text += fmt::format("        '{}:{}'\n", command.name,
                        quoted(first_line(command.description), ":"));
  }
  text += "    )\n    if (( CURRENT == 2 )); then\n        _describe command subcommands\n";
  text += "        _arguments";
  for (const OptionDescription& option : all.options) text += zsh_option(option);
  text += "\n        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n";
  for (const CommandDescription& command : all.commands) {
    text += fmt::format("    {})\n        _arguments -S", command.name);
    for (const OptionDescription& option : command.options) text += zsh_option(option);
    if (command.runs_program) {
      text += " \\\n        '(-)1:program: _command_names -e' \\\n        '*::arguments: _normal'";
    }
    text += "\n        ;;\n";
  }
  return text + "    esac\n}\n_ttmem \"$@\"\n";
}

std::string fish_completion(const CommandDescription& all) {
  std::string text = std::string(kHead) + "complete -c ttmem -n __fish_use_subcommand -f\n";
  for (const CommandDescription& command : all.commands) {
    text += fmt::format("complete -c ttmem -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        quoted(first_line(command.description), ""));
  }
  for (const OptionDescription& option : all.options)
    text += fish_option(option, "__fish_use_subcommand");
  for (const CommandDescription& command : all.commands) {
    for (const OptionDescription& option : command.options) {
      if (option.names.empty() && option.choices.empty()) continue;
      text += fish_option(option, "__fish_seen_subcommand_from " + command.name);
    }
    if (!command.runs_program) continue;
    text += fmt::format(
        "complete -c ttmem -n '__fish_seen_subcommand_from {}' -x -a "
        "'(__fish_complete_subcommand --fcs-skip=2)'\n",
        command.name);
  }
  return text;
}

}  // namespace ttmem::cli
