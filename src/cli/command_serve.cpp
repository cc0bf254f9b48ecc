// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "serve/config.hpp"
#include "serve/daemon.hpp"

namespace ttmem::cli {
namespace {

struct ServeWords {
  serve::Values given;
  std::string file;
  bool print = false;
};

int complain(const Error& error) {
  fmt::print(stderr, "ttmem: {}\n", error.message);
  return kUsage;
}

int serve_until_stopped(const ServeWords& words) {
  const auto load = [words] { return serve::Config::load(words.given, words.file); };
  const auto config = load();
  if (!config) return complain(config.error());
  if (words.print) return Output::print(config->text());
  const auto options = serve::options_of(*config);
  if (!options) return complain(options.error());
  switch (serve::run_daemon(*config, *options, load)) {
    case serve::DaemonEnd::kStopped:
      return kOk;
    case serve::DaemonEnd::kImpossible:
      return kFailed;
    case serve::DaemonEnd::kAlreadyRunning:
      return kRunning;
  }
  return kFailed;
}

constexpr const char* kServeExamples =
    "Every option can also stand in the file (`http = \"127.0.0.1:7171\"`) or in the environment\n"
    "(TTMEM_SERVE_HTTP); the command line wins over the environment, that over the file.\n"
    "SIGHUP reads the settings again, SIGUSR1 prints a summary, SIGTERM ends it.\n"
    "Examples:\n"
    "  ttmem serve                                    HTTP on http://127.0.0.1:7171\n"
    "  ttmem serve --http off --log-format legacy     the original's server, with its log\n"
    "  ttmem serve --config serve.toml --print-config what is set, and by whom\n"
    "  curl -s http://127.0.0.1:7171/api/v1/snapshot  the document of `ttmem status --json`";

}  // namespace

void register_serve(CLI::App& app, Action& action) {
  auto words = std::make_shared<ServeWords>();
  CLI::App* command =
      app.add_subcommand("serve", "The daemon: HTTP, metrics, history, the original's socket");
  command->footer(kServeExamples);
  for (const serve::SettingInfo& info : serve::settings()) {
    const auto take = [words, name = info.name](const std::string& value) {
      words->given[name] = value;
    };
    if (info.value.empty()) {
      command->add_flag_callback("--" + info.name, [take] { take("true"); }, info.help);
    } else {
      command->add_option_function<std::string>("--" + info.name, take, info.help)
          ->type_name(info.value)
          ->default_str(info.name == "history" ? "" : serve::default_of(info.name));
    }
  }
  command->add_option("--config", words->file, "Read settings from this TOML file")
      ->type_name("FILE");
  command->add_flag("--print-config", words->print, "Print the settings and where each is from");
  command->callback([words, &action] { action = [words] { return serve_until_stopped(*words); }; });
}

}  // namespace ttmem::cli
