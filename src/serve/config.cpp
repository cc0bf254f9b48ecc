// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/config.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.hpp"
#include "serve/history/history.hpp"
#include "serve/http/guard.hpp"
#include "view/units.hpp"

namespace ttmem::serve {
namespace {

// ---- the file -----------------------------------------------------------------------------------

std::string names() {
  std::vector<std::string> all;
  for (const SettingInfo& info : settings()) all.push_back(info.name);
  return fmt::format("{}", fmt::join(all, ", "));
}

// ---- what they mean -----------------------------------------------------------------------------

constexpr std::size_t kLeastTokenBytes = 16, kMostTokenBytes = 4096;

Error wrong(const Config& config, std::string_view name, std::string_view wanted) {
  return {ErrorCode::kCorrupt, fmt::format("{} is \"{}\" ({}): it must be {}", name,
                                           config.value(name), config.origin(name), wanted)};
}

bool take_address(const std::string& text, ServeOptions& options) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const std::string_view port = std::string_view(text).substr(colon + 1);
  const auto [end, error] =
      std::from_chars(port.data(), port.data() + port.size(), options.http_port);
  options.http_host = std::string(http::without_port(text));
  return error == std::errc() && end == port.data() + port.size() && !port.empty();
}

bool take_minutes(std::string_view text, std::uint64_t& minutes) {
  constexpr std::uint64_t kMostMinutes = 7 * 24 * 60;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), minutes);
  return error == std::errc() && end == text.data() + text.size() && minutes >= 1 &&
         minutes <= kMostMinutes;
}

bool take_size(std::string_view text, std::uint64_t& bytes) {
  constexpr std::uint64_t kLeast = 8ull << 20, kMost = 1ull << 50;
  bytes = view::bytes_in(text).value_or(0);
  return bytes >= kLeast && bytes <= kMost;
}

bool take_recording(const Config& config, RollingOptions& recording) {
  const std::string& file = config.value("recording");
  recording.file = file == "off" ? "" : file;
  return take_minutes(config.value("recording-minutes"), recording.minutes);
}

bool take_switch(const Config& config, std::string_view name, bool& value) {
  const std::string& text = config.value(name);
  value = text == "true" || text == "1";
  return value || text == "false" || text == "0";
}

Result<std::string> read_token(const std::string& path) {
  // A link is welcome, secrets are often mounted so; a pipe would be waited for.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("the token file {} cannot be read: {}", path, std::strerror(errno))};
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return Error{ErrorCode::kWrongKind,
                 fmt::format("the token file {} is not a regular file: name one that holds the "
                             "token",
                             path)};
  }
  std::string text(kMostTokenBytes, '\0');
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.pop_back();
  if ((facts.st_mode & S_IRWXO) != 0) {
    return Error{
        ErrorCode::kNotPermitted,
        fmt::format("the token file {} is readable by everybody: run chmod 600 on it", path)};
  }
  if (text.size() < kLeastTokenBytes) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the token in {} is too short: at least {} characters, as from "
                             "`openssl rand -hex 32`",
                             path, kLeastTokenBytes)};
  }
  return text;
}

std::optional<Error> take_fleet(const Config& config, ServeOptions& options) {
  if (config.value("fleet") == "off") return std::nullopt;
  constexpr std::uint16_t kPrometheus = 9090;
  auto url = fleet::parse_url(config.value("fleet"), kPrometheus);
  if (!url) return wrong(config, "fleet", "such as http://prometheus:9090, or off");
  options.engine = std::move(*url);
  if (config.value("fleet-token-file").empty()) return std::nullopt;
  auto token = fleet::read_token(config.value("fleet-token-file"));
  if (!token) return token.error();
  options.engine_token = std::move(*token);
  return std::nullopt;
}

}  // namespace

// ---- where settings come from -------------------------------------------------------------------

const std::vector<SettingInfo>& settings() {
  static const std::vector<SettingInfo> kAll = {
      {"http", "ADDRESS|off", "HOST:PORT to listen on for the web page and the API"},
      {"legacy-socket", "PATH|off", "Socket for clients of the original"},
      {"history", "FILE|memory|off", "Where to keep the history"},
      {"recording", "FILE|off", "Keep a recording of the last minutes in FILE, FILE.1, ..."},
      {"recording-minutes", "N", "How many minutes of it to keep at least"},
      {"recording-size", "SIZE", "Keep at most this much of it, such as 500M or 2G"},
      {"log-format", "text|json|legacy", "Format of the log; legacy: as the original's, on stdout"},
      {"allow-remote", "", "Accept connections from other machines; needs a token"},
      {"token-file", "FILE", "File with the token that other machines must send"},
      {"all-users", "", "Also show lines, commands and failure texts of other users"},
      {"fleet", "URL|off", "Prometheus that scrapes many hosts; the page shows them"},
      {"fleet-token-file", "FILE", "File with the token that this Prometheus wants"},
      {"metrics-per-process", "", "Also expose metrics per process to Prometheus"},
  };
  return kAll;
}

std::string default_of(std::string_view name) {
  if (name == "http") return "127.0.0.1:7171";
  if (name == "legacy-socket") return "/tmp/tt_allocation_server.sock";
  if (name == "recording" || name == "fleet") return "off";
  if (name == "recording-minutes") return "60";
  if (name == "recording-size") return "1G";
  if (name == "log-format") return "text";
  if (name == "token-file" || name == "fleet-token-file") return "";
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

// ---- the file -----------------------------------------------------------------------------------

Result<Values> read_config_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: {}", path, std::strerror(errno))};
  }
  toml::table table;
  try {
    table = toml::parse(file, path);
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}:{}: {}", path, error.source().begin.line, error.description())};
  }
  Values values;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto where = fmt::format("{}:{}", path, node.source().begin.line);
    const auto info = std::ranges::find(settings(), name, &SettingInfo::name);
    if (info == settings().end()) {
      return Error{ErrorCode::kCorrupt, fmt::format("{}: unknown setting {}; the settings are: {}",
                                                    where, name, names())};
    }
    if (const auto flag = node.value_exact<bool>(); flag && info->value.empty()) {
      values[name] = *flag ? "true" : "false";
    } else if (const auto text = node.value_exact<std::string>(); text && !info->value.empty()) {
      values[name] = *text;
    } else {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("{}: {} must be {}", where, name,
                               info->value.empty() ? "true or false" : "a string in quotes")};
    }
  }
  return values;
}

// ---- what they mean -----------------------------------------------------------------------------

Result<ServeOptions> options_of(const Config& config) {
  ServeOptions options;
  options.http = config.value("http") != "off";
  if (options.http && !take_address(config.value("http"), options)) {
    return wrong(config, "http", "HOST:PORT, such as 127.0.0.1:7171, or off");
  }
  if (config.value("legacy-socket") != "off") {
    options.legacy_socket = config.value("legacy-socket");
    if (options.legacy_socket.empty()) return wrong(config, "legacy-socket", "a path, or off");
  }
  const std::string& history = config.value("history");
  options.keeps_history = history != "off";
  if (options.keeps_history && history != "memory") options.history = history;
  if (!take_recording(config, options.recording)) {
    return wrong(config, "recording-minutes", "1 to 10080");
  }
  if (std::error_code none; std::filesystem::is_directory(options.recording.file, none)) {
    return wrong(config, "recording", "a file, not a folder, or off");
  }
  if (!take_size(config.value("recording-size"), options.recording.max_bytes)) {
    return wrong(config, "recording-size", "at least 8M, such as 500M or 2G");
  }
  const std::string& format = config.value("log-format");
  if (format == "json") options.log_format = LogFormat::kJson;
  if (format == "legacy") options.log_format = LogFormat::kLegacy;
  if (format != "text" && options.log_format == LogFormat::kText) {
    return wrong(config, "log-format", "text, json or legacy");
  }
  for (const auto& [name, value] :
       {std::pair("allow-remote", &options.allow_remote),
        std::pair("all-users", &options.all_users),
        std::pair("metrics-per-process", &options.metrics_per_process)}) {
    if (!take_switch(config, name, *value)) return wrong(config, name, "true or false");
  }
  if (!config.value("token-file").empty()) {
    auto token = read_token(config.value("token-file"));
    if (!token) return token.error();
    options.token = std::move(*token);
  }
  if (auto problem = take_fleet(config, options)) return std::move(*problem);
  const bool remote = options.http && !http::is_loopback(options.http_host);
  if (remote && (!options.allow_remote || options.token.empty())) {
    return wrong(config, "http",
                 "a loopback address, unless --allow-remote and --token-file are given too");
  }
  return options;
}

}  // namespace ttmem::serve
