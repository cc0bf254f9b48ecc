// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The one thing here that a request can change: which recordings are open. Guard and parser let a
// POST pass for that alone.
#pragma once

#include <string_view>

namespace ttmem::serve::http {

inline constexpr std::string_view kRecordingsPath = "/api/v1/recordings";

inline bool opens_recording(std::string_view method, std::string_view path) {
  return method == "POST" && path.starts_with(kRecordingsPath) &&
         (path.size() == kRecordingsPath.size() || path[kRecordingsPath.size()] == '/');
}

}  // namespace ttmem::serve::http
