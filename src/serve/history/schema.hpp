// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a history file looks like, and how it is told from other files before SQLite touches it.
#pragma once

#include <string>

#include "serve/history/database.hpp"

namespace ttmem::serve::history {

inline constexpr std::int64_t kApplicationId = 0x74746d68;  // "ttmh"
inline constexpr std::int64_t kFormat = 1;

enum class FileKind : std::uint8_t { kNew, kOurs, kNewer, kForeign, kNoFile, kUnreadable };

// Looks at the first bytes of the file alone. `kNoFile`: a folder, a device or the like.
FileKind kind_of(const std::string& path, std::string& reason);

bool make_schema(Database& database);
// Exactly our tables and nothing else: no trigger, no view.
bool has_schema(Database& database);

}  // namespace ttmem::serve::history
