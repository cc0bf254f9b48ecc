// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/daemon_log.hpp"

#include <algorithm>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/printable.hpp"

namespace ttmem::serve {
namespace {

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%e%z %l: %v";
constexpr const char* kJsonPattern =
    R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":%v})";

template <typename Tell>
void each_line(std::string_view lines, Tell tell) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (end > 0) tell(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

}  // namespace

struct DaemonLog::Sink {
  spdlog::logger logger{"ttmem", std::make_shared<spdlog::sinks::stderr_sink_st>()};
};

DaemonLog::DaemonLog(LogFormat format) : sink_(std::make_unique<Sink>()), format_(format) {
  set_format(format);
}
DaemonLog::~DaemonLog() = default;

void DaemonLog::set_format(LogFormat format) {
  format_ = format;
  sink_->logger.set_pattern(format == LogFormat::kJson ? kJsonPattern : kTextPattern);
  sink_->logger.set_level(format == LogFormat::kLegacy ? spdlog::level::warn : spdlog::level::info);
  sink_->logger.flush_on(spdlog::level::info);
}

namespace {

std::string written(std::string_view message, LogFormat format) {
  if (format != LogFormat::kJson) return view::printable(message);
  return view::json::text(view::json::Json(message), view::JsonLayout::kCompact);
}

}  // namespace

void DaemonLog::info(std::string_view message) {
  sink_->logger.info("{}", written(message, format_));
}
void DaemonLog::warn(std::string_view message) {
  sink_->logger.warn("{}", written(message, format_));
}
void DaemonLog::error(std::string_view message) {
  sink_->logger.error("{}", written(message, format_));
}

void LegacyLines::report(std::string_view lines) {
  each_line(lines, [this](std::string_view line) { log_.info(line); });
}

void LegacyLines::error(std::string_view lines) {
  each_line(lines, [this](std::string_view line) { log_.warn(line); });
}

}  // namespace ttmem::serve
