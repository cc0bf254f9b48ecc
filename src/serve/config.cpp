// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/history/history.hpp"

namespace ttmem::serve {

const std::vector<SettingInfo>& settings() {
  static const std::vector<SettingInfo> kAll = {
      {"http", "ADDRESS|off", "HOST:PORT where HTTP is answered"},
      {"legacy-socket", "PATH|off", "Where clients of the original's protocol are served"},
      {"history", "FILE|memory|off", "Where the history is kept"},
      {"log-format", "text|json|legacy", "How the log looks; legacy: as the original's, on stdout"},
      {"allow-remote", "", "Answer other machines too; needs a token"},
      {"token-file", "FILE", "The token that other machines must send"},
      {"metrics-per-process", "", "Also give Prometheus the figures of each process"},
  };
  return kAll;
}

std::string default_of(std::string_view name) {
  if (name == "http") return "127.0.0.1:7171";
  if (name == "legacy-socket") return "/tmp/tt_allocation_server.sock";
  if (name == "log-format") return "text";
  if (name == "token-file") return "";
  if (name != "history") return "false";
  const std::string path = history::History::default_path(::geteuid() == 0);
  return path.empty() ? "memory" : path;
}

std::string variable_of(std::string_view name) {
  std::string variable = "TTMEM_SERVE_";
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return variable;
}

void Config::take(const Values& values, const std::string& origin) {
  for (const auto& [name, value] : values) settings_[name] = {value, origin};
}

Result<Config> Config::load(const Values& command_line, std::string file) {
  Config config;
  Values defaults, environment;
  for (const SettingInfo& info : settings()) {
    defaults[info.name] = default_of(info.name);
    const char* value = std::getenv(variable_of(info.name).c_str());
    if (value != nullptr && *value != '\0') environment[info.name] = value;
  }
  config.take(defaults, "default");
  const char* named = std::getenv("TTMEM_SERVE_CONFIG");
  if (file.empty() && named != nullptr) file = named;
  if (!file.empty()) {
    const auto values = read_config_file(file);
    if (!values) return values.error();
    config.take(*values, "file " + file);
  }
  config.take(environment, "environment");
  config.take(command_line, "command line");
  return config;
}

const std::string& Config::value(std::string_view name) const {
  return settings_.find(name)->second.value;
}

const std::string& Config::origin(std::string_view name) const {
  return settings_.find(name)->second.origin;
}

std::string Config::text() const {
  std::string text;
  for (const SettingInfo& info : settings()) {
    const Setting& setting = settings_.find(info.name)->second;
    const std::string value =
        info.value.empty() ? setting.value
                           : nlohmann::json(setting.value)
                                 .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    text += fmt::format("{} = {}  # {}\n", info.name, value, setting.origin);
  }
  return text;
}

}  // namespace ttmem::serve
