// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/ask_daemon.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
#include "cli/say.hpp"
#include "serve/config.hpp"
#include "serve/daemon.hpp"
#include "serve/replay_server.hpp"
#include "view/json_read_values.hpp"

namespace ttmem::cli {
namespace {

struct ServeArguments {
  serve::Values given;
  std::string file;
  std::string recording;  // "": the present
  bool print = false;
  bool open = false;
};

// By the desktop's own program for that; the daemon goes on whatever becomes of it.
void open_browser(std::string url) {
  posix_spawn_file_actions_t silent;
  ::posix_spawn_file_actions_init(&silent);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&silent, fd, "/dev/null", O_RDWR, 0);
  }
  std::string program = "xdg-open";
  const std::array<char*, 3> arguments = {program.data(), url.data(), nullptr};
  pid_t child = -1;
  if (::posix_spawnp(&child, program.c_str(), &silent, nullptr, arguments.data(), environ) != 0) {
    say("ttmem: xdg-open is not installed; open {} in a browser\n", url);
  }
  ::posix_spawn_file_actions_destroy(&silent);
  ::signal(SIGCHLD, SIG_IGN);  // nobody waits for it
}

// The page of the daemon that runs already, entered as this user.
void open_running() {
  const auto answer = ask_daemon("/api/v1/link");
  const auto document = answer ? view::json::Json::parse(*answer, nullptr, false) : nullptr;
  const std::string link = view::json::string(document, "link");
  if (link.empty()) return;
  open_browser(link);
}

int exit_code(serve::DaemonEnd end, const ServeArguments& arguments) {
  switch (end) {
    case serve::DaemonEnd::kStopped:
      return kOk;
    case serve::DaemonEnd::kImpossible:
      return kFailed;
    case serve::DaemonEnd::kNoRecording:
      return kNotFound;
    case serve::DaemonEnd::kAlreadyRunning:
      if (arguments.open && arguments.recording.empty()) open_running();
      return kRunning;
  }
  return kFailed;
}

int serve_until_stopped(const ServeArguments& arguments) {
  const auto load = [arguments] { return serve::Config::load(arguments.given, arguments.file); };
  const auto config = load();
  if (!config) return complain(config.error());
  if (arguments.print) return Output::print(config->text());
  auto options = serve::options_of(*config);
  if (!options) return complain(options.error());
  const auto listening = [&arguments](const std::string& url) {
    if (arguments.open) open_browser(url);
  };
  if (!arguments.recording.empty()) {
    // Beside the daemon that looks at the present: on any port that is free.
    if (config->origin("http") == "default") options->http_port = 0;
    return exit_code(serve::run_replay_server(arguments.recording, *options, listening), arguments);
  }
  return exit_code(serve::run_daemon(*config, *options, load, listening), arguments);
}

constexpr const char* kServeExamples =
    "Every option can also be set in the file (`http = \"127.0.0.1:7171\"`) or in the environment\n"
    "(TTMEM_SERVE_HTTP). The command line overrides the environment, which overrides the file.\n"
    "SIGHUP reloads the settings, SIGUSR1 prints a summary, SIGTERM stops the daemon.\n"
    "The \"original\" is allocation_server_poc, whose clients this daemon serves too.\n"
    "Examples:\n"
    "  ttmem serve                                    web page on http://127.0.0.1:7171\n"
    "  ttmem serve --http off --log-format legacy     as the original's server, with its log\n"
    "  ttmem serve --config serve.toml --print-config each setting and where it comes from\n"
    "  ttmem serve --from night.ttm --open            a recording, in the browser\n"
    "  curl -s http://127.0.0.1:7171/api/v1/snapshot  the JSON of `ttmem status --json`";

}  // namespace

void register_serve(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command =
      app.add_subcommand("serve", "Run the daemon: web page, HTTP API, metrics, history");
  command->footer(kServeExamples);
  for (const serve::SettingInfo& info : serve::settings()) {
    const auto take = [arguments, name = info.name](const std::string& value) {
      arguments->given[name] = value;
    };
    if (info.value.empty()) {
      command->add_flag_callback("--" + info.name, [take] { take("true"); }, info.help);
    } else {
      command->add_option_function<std::string>("--" + info.name, take, info.help)
          ->type_name(info.value)
          ->default_str(info.name == "history" ? "" : serve::default_of(info.name));
    }
  }
  command
      ->add_option("--from", arguments->recording,
                   "Serve a recording of `ttmem record`, at any moment (?at=), not the present")
      ->type_name("FILE");
  command->add_option("--config", arguments->file, "Read settings from this TOML file")
      ->type_name("FILE");
  command->add_flag("--print-config", arguments->print,
                    "Print each setting and where it comes from, and exit");
  command->add_flag("--open", arguments->open,
                    "Open the web page in a browser, also that of a daemon that runs already");
  command->callback(
      [arguments, &action] { action = [arguments] { return serve_until_stopped(*arguments); }; });
}

}  // namespace ttmem::cli
