// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "serve/config.hpp"
#include "serve/http/guard.hpp"

namespace ttmem::serve {
namespace {

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

bool take_switch(const Config& config, std::string_view name, bool& value) {
  const std::string& text = config.value(name);
  value = text == "true" || text == "1";
  return value || text == "false" || text == "0";
}

Result<std::string> read_token(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("the token file {} cannot be read: {}", path, std::strerror(errno))};
  }
  struct stat facts{};
  ::fstat(file.get(), &facts);
  std::string text(kMostTokenBytes, '\0');
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.pop_back();
  if ((facts.st_mode & S_IRWXO) != 0) {
    return Error{ErrorCode::kNotPermitted,
                 fmt::format("everybody may read the token file {}: chmod 600 it", path)};
  }
  if (text.size() < kLeastTokenBytes) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the token in {} is too short: at least {} characters, as from "
                             "`openssl rand -hex 32`",
                             path, kLeastTokenBytes)};
  }
  return text;
}

}  // namespace

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
  const std::string& format = config.value("log-format");
  if (format == "json") options.log_format = LogFormat::kJson;
  if (format == "legacy") options.log_format = LogFormat::kLegacy;
  if (format != "text" && options.log_format == LogFormat::kText) {
    return wrong(config, "log-format", "text, json or legacy");
  }
  for (const auto& [name, value] :
       {std::pair("allow-remote", &options.allow_remote),
        std::pair("metrics-per-process", &options.metrics_per_process)}) {
    if (!take_switch(config, name, *value)) return wrong(config, name, "true or false");
  }
  if (!config.value("token-file").empty()) {
    auto token = read_token(config.value("token-file"));
    if (!token) return token.error();
    options.token = std::move(*token);
  }
  const bool remote = options.http && !http::is_loopback(options.http_host);
  if (remote && (!options.allow_remote || options.token.empty())) {
    return wrong(config, "http",
                 "a loopback address, unless --allow-remote and --token-file are given too");
  }
  return options;
}

}  // namespace ttmem::serve
