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

}  // namespace ttmem::cli
