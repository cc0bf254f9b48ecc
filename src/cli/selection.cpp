// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/selection.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ttmem::cli {
namespace {

std::string device_missing(const ledger::Snapshot& snapshot, std::uint32_t id) {
  std::vector<std::uint32_t> ids;
  for (const auto& device : snapshot.devices) ids.push_back(device.id);
  if (std::find(ids.begin(), ids.end(), id) != ids.end()) return "";
  if (ids.empty()) return fmt::format("there is no device {}: no process has told about any", id);
  return fmt::format("there is no device {}; there are: {}", id, fmt::join(ids, ", "));
}

bool has_device(const ledger::ProcessView& process, std::uint32_t id) {
  return std::any_of(process.devices.begin(), process.devices.end(),
                     [&](const auto& device) { return device.id == id; });
}

std::optional<std::uint8_t> coordinate(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > 255) return std::nullopt;
  return static_cast<std::uint8_t>(value);
}

std::optional<ledger::CoreType> core_type(std::string_view text) {
  for (std::size_t i = 0; i < ledger::kCoreTypes; ++i) {
    const auto type = static_cast<ledger::CoreType>(i);
    if (name(type) == text) return type;
  }
  return std::nullopt;
}

}  // namespace

std::string missing(const ledger::Snapshot& snapshot, const Selection& selection) {
  if (selection.pid && snapshot.processes.empty()) {
    return fmt::format(
        "process {0} is not tracked; start it with `ttmem run`, or see all with `ttmem status`",
        *selection.pid);
  }
  return selection.device ? device_missing(snapshot, *selection.device) : "";
}

ledger::Snapshot selected(const ledger::Snapshot& snapshot, const Selection& selection) {
  ledger::Snapshot result = snapshot;
  if (!selection.device) return result;
  const std::uint32_t id = *selection.device;
  std::erase_if(result.devices, [&](const auto& device) { return device.id != id; });
  std::erase_if(result.processes, [&](const auto& process) { return !has_device(process, id); });
  for (auto& process : result.processes) {
    std::erase_if(process.devices, [&](const auto& device) { return device.id != id; });
  }
  return result;
}

std::string unusable_directory(const std::vector<std::string>& directories) {
  std::string complaint;
  for (const std::string& path : directories) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) {
      if (errno == ENOENT) continue;
    } else if (!S_ISDIR(status.st_mode)) {
      errno = ENOTDIR;
    } else if (access(path.c_str(), R_OK | X_OK) == 0) {
      return "";
    }
    complaint = fmt::format("cannot look into {}: {}; set TTMEM_DIR to a directory you may read",
                            path, std::strerror(errno));
  }
  return complaint;
}

std::optional<ledger::Core> parse_core(const std::string& text) {
  std::string_view rest = text;
  ledger::Core core;
  if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
    const auto type = core_type(rest.substr(0, colon));
    if (!type) return std::nullopt;
    core.type = *type;
    rest.remove_prefix(colon + 1);
  }
  const auto comma = rest.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto x = coordinate(rest.substr(0, comma));
  const auto y = coordinate(rest.substr(comma + 1));
  if (!x || !y) return std::nullopt;
  core.x = *x;
  core.y = *y;
  return core;
}

}  // namespace ttmem::cli
