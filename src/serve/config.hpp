// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How the daemon is set up. Every setting has one name: the option `--legacy-socket`, the variable
// TTMEM_SERVE_LEGACY_SOCKET and the line `legacy-socket = "..."` of the file are the same. The
// command line wins over the environment, that over the file, and that over the default.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "fleet/http_client.hpp"

namespace ttmem::serve {

struct SettingInfo {
  std::string name;   // "legacy-socket"
  std::string value;  // "PATH|off", for help texts; "" = a switch: true or false
  std::string help;
};
// In the order of the help text.
const std::vector<SettingInfo>& settings();
std::string default_of(std::string_view name);
std::string variable_of(std::string_view name);  // "TTMEM_SERVE_LEGACY_SOCKET"

using Values = std::map<std::string, std::string>;  // by name

class Config {
 public:
  // `file` "" = $TTMEM_SERVE_CONFIG, else none. An unknown name or a wrong type in the file is an
  // error that says where.
  static Result<Config> load(const Values& command_line, std::string file);

  const std::string& value(std::string_view name) const;
  // Where it comes from: "default", "file /etc/ttmem/serve.toml", "environment", "command line".
  const std::string& origin(std::string_view name) const;
  // As a file that could be read back, with the origin of each value beside it.
  std::string text() const;

 private:
  void take(const Values& values, const std::string& origin);

  struct Setting {
    std::string value, origin;
  };
  std::map<std::string, Setting, std::less<>> settings_;
};

// The settings of a TOML file; switches as "true" and "false".
Result<Values> read_config_file(const std::string& path);

// ---- what they mean ----------------------------------------------------------------------------

enum class LogFormat : std::uint8_t { kText, kJson, kLegacy };

// A recording of the last minutes.
struct RollingOptions {
  std::string file;  // "" = none; FILE.1, FILE.2, ... are older
  std::uint64_t minutes = 60;
  std::uint64_t max_bytes = 1ull << 30;  // of all files together
};

struct ServeOptions {
  bool http = true;
  std::string http_host;
  std::uint16_t http_port = 0;
  std::string legacy_socket;  // "" = off
  bool keeps_history = true;
  std::string history;  // "" = in memory
  LogFormat log_format = LogFormat::kText;
  RollingOptions recording;
  bool allow_remote = false;
  std::string token;       // what the token file says; "" = none
  bool all_users = false;  // also what others than the daemon's user would rather not show
  bool metrics_per_process = false;
  std::optional<fleet::Url> engine;  // that knows many hosts, for the page
  std::string engine_token;          // that it wants; "" = none
};

// Also reads the token. An error names the setting and says what it may be.
Result<ServeOptions> options_of(const Config& config);

}  // namespace ttmem::serve
