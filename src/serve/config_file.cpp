// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <toml++/toml.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "serve/config.hpp"

namespace ttmem::serve {
namespace {

std::string names() {
  std::vector<std::string> all;
  for (const SettingInfo& info : settings()) all.push_back(info.name);
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

Result<Values> read_config_file(const std::string& path) {
  toml::table table;
  try {
    table = toml::parse_file(path);
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
      return Error{ErrorCode::kCorrupt,
                   fmt::format("{}: there is no setting {}; there are: {}", where, name, names())};
    }
    if (const auto flag = node.value_exact<bool>(); flag && info->value.empty()) {
      values[name] = *flag ? "true" : "false";
    } else if (const auto text = node.value_exact<std::string>(); text && !info->value.empty()) {
      values[name] = *text;
    } else {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("{}: {} must be {}", where, name,
                               info->value.empty() ? "true or false" : "a text in quotes")};
    }
  }
  return values;
}

}  // namespace ttmem::serve
