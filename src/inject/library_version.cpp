// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/library_version.hpp"

#include <filesystem>
#include <string_view>

namespace ttmem::inject {

std::string version_of_library(const std::string& path) {
  constexpr std::string_view kBefore = "ttnn-";
  constexpr std::string_view kAfter = ".dist-info";
  const auto lib = std::filesystem::path(path).parent_path();
  const auto packages = lib.parent_path().parent_path().parent_path();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(packages, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kBefore) && name.ends_with(kAfter)) {
      return name.substr(kBefore.size(), name.size() - kBefore.size() - kAfter.size());
    }
  }
  return {};
}

}  // namespace ttmem::inject
