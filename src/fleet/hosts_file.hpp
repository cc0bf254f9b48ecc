// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The file of `ttmem fleet --hosts`: one host per line.
//
//   node7                   by ssh: ssh node7 ttmem status --json
//   root@node8              likewise
//   node9:7171              over HTTP, its `ttmem serve`
//   http://10.0.0.5:7171    likewise
//   # a comment
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "fleet/http_client.hpp"

namespace ttmem::fleet {

struct HostEntry {
  std::string name;        // as it stands in the file
  std::optional<Url> url;  // empty: by ssh
};

inline constexpr std::size_t kMostHosts = 256;
inline constexpr std::uint16_t kDaemonPort = 7171;

// Errors name the line. A name that begins with '-' would be an option of ssh, and is refused.
Result<std::vector<HostEntry>> parse_hosts(std::string_view text);

// From a file, or from standard input if it is called "-".
Result<std::vector<HostEntry>> read_hosts(const std::string& path);

}  // namespace ttmem::fleet
