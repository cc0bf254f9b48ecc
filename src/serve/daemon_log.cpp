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

constexpr std::size_t kLinesOfATurn = 250;  // each is a call of the system

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

void LegacyLines::report(std::string_view lines) { add(false, lines); }
void LegacyLines::error(std::string_view lines) { add(true, lines); }
void LegacyLines::finish() { write(std::string::npos); }

void LegacyLines::add(bool is_error, std::string_view lines) {
  waiting_.push_back({is_error, std::string(lines), 0});
  if (is_due_) return;
  write(kLinesOfATurn);
  write_later();
}

void LegacyLines::write_later() {
  is_due_ = !waiting_.empty();
  if (!is_due_) return;
  loop_.post([this] {
    write(kLinesOfATurn);
    write_later();
  });
}

void LegacyLines::write(std::size_t most_lines) {
  while (!waiting_.empty() && most_lines > 0) {
    Waiting& first = waiting_.front();
    const std::string_view rest = std::string_view(first.lines).substr(first.written);
    const std::string_view line = rest.substr(0, rest.find('\n'));
    first.written += std::min(line.size() + 1, rest.size());
    if (!line.empty()) {
      first.is_error ? log_.warn(line) : log_.info(line);
      --most_lines;
    }
    if (first.written == first.lines.size()) waiting_.pop_front();
  }
}

}  // namespace ttmem::serve
