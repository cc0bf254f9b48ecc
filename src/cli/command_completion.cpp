// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem completion SHELL`, and the hidden `ttmem manual`, which the build runs to write the man
// pages and completions that are installed.
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/command_descriptions.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/say.hpp"

namespace ttmem::cli {
namespace {

int print_completion(const CommandDescription& all, const std::string& shell) {
  if (shell == "bash") return Output::print(bash_completion(all));
  if (shell == "zsh") return Output::print(zsh_completion(all));
  return Output::print(fish_completion(all));
}

const CommandDescription* find(const CommandDescription& all, const std::string& name) {
  if (name.empty()) return &all;
  for (const CommandDescription& command : all.commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int print_page(const CommandDescription& all, const std::string& name) {
  const CommandDescription* command = find(all, name);
  if (command != nullptr) return Output::print(man_page(all, *command));
  say("ttmem: unknown command `{}`; see `ttmem --help`\n", name);
  return kNotFound;
}

// Where Linux looks for them below share/.
std::vector<std::pair<std::string, std::string>> all_files(const CommandDescription& all) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"bash-completion/completions/ttmem", bash_completion(all)},
      {"zsh/site-functions/_ttmem", zsh_completion(all)},
      {"fish/vendor_completions.d/ttmem.fish", fish_completion(all)},
      {"man/man1/ttmem.1", man_page(all, all)}};
  for (const CommandDescription& command : all.commands) {
    files.emplace_back("man/man1/ttmem-" + command.name + ".1", man_page(all, command));
  }
  return files;
}

int write_all(const CommandDescription& all, const std::string& directory) {
  for (const auto& [name, text] : all_files(all)) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (std::ofstream file(path); file << text && file.flush()) continue;
    say("ttmem: cannot write {}; name a directory that you may write\n", path.string());
    return kFailed;
  }
  return kOk;
}

constexpr const char* kCompletionExamples =
    "Packages install them already. To install them by hand:\n"
    "  ttmem completion bash > ~/.local/share/bash-completion/completions/ttmem\n"
    "  ttmem completion zsh > \"${fpath[1]}/_ttmem\"\n"
    "  ttmem completion fish > ~/.config/fish/completions/ttmem.fish";

}  // namespace

void register_completion(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print completions for bash, zsh or fish");
  command->footer(kCompletionExamples);
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->type_name("")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app, &action] {
    action = [shell, &app] { return print_completion(describe(app), *shell); };
  });
}

void register_manual(CLI::App& app, Action& action) {
  struct Options {
    std::string command, directory;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("manual", "Print a man page in roff");
  command->group("");  // not in the help: `man ttmem` is for people
  command->add_option("command", options->command,
                      "Command to describe; ttmem itself if none is given");
  command->add_option("--write", options->directory,
                      "Write all pages and completions below this share/ directory");
  command->callback([options, &app, &action] {
    action = [options, &app] {
      const CommandDescription all = describe(app);
      return options->directory.empty() ? print_page(all, options->command)
                                        : write_all(all, options->directory);
    };
  });
}

}  // namespace ttmem::cli
